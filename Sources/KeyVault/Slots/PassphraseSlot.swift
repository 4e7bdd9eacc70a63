internal import CryptoPrimitives

/// A passphrase's slot: Argon2id with the salt and costs in the slot. Parameters: salt 16, passes 4, KiB 4.
struct PassphraseSlot: SlotCredential {
    static let kind = SlotKind.passphrase
    static let parameterSize = 24

    let passphrase: Passphrase
    /// What a new slot costs; an existing one says so itself.
    var costs = Argon2id.Parameters.recommended

    func freshParameters() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(SecureRandom.bytes(count: Argon2id.saltSize))
        writer.append(costs.passes)
        writer.append(costs.memoryKiB)
        return writer.bytes
    }

    func wrappingKey(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) throws(CryptoError) -> SecretBytes {
        let (salt, costs) = try Self.parse(parameters)
        return try salt.withRawBytes { salt throws(CryptoError) in
            try Argon2id.deriveKey(passphrase: passphrase.bytes, salt: salt, parameters: costs, count: 32)
        }
    }

    private static func parse(_ parameters: ArraySlice<UInt8>) throws(CryptoError) -> ([UInt8], Argon2id.Parameters) {
        do throws(VaultError) {
            var reader = ByteReader(parameters, path: "")
            let salt = Array(try reader.take(Argon2id.saltSize))
            let passes: UInt32 = try reader.integer()
            return (salt, Argon2id.Parameters(passes: passes, memoryKiB: try reader.integer()))
        } catch {
            throw CryptoError(.parameterOutOfRange, "Argon2id")
        }
    }
}
