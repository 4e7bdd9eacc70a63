internal import CryptoPrimitives
internal import Sealing

/// What golden records are sealed under. The key is public: golden records hold made-up values only.
enum GoldenKey {
    static let group = "group.sealedstate.golden"

    /// The bytes 0 to 31, of epoch 1.
    static func make() throws(SealingError) -> SealingKey {
        let secret = SecretBytes(count: SealingKey.size) { memory in
            for index in 0..<SealingKey.size { memory[index] = UInt8(index) }
        }
        return try SealingKey(secret: secret, epoch: 1)
    }
}
