internal import CryptoPrimitives
internal import Sealing

/// A generator of blobs that no sealer would create. A header with any bytes still gets the matching commitment and
/// chunks, so that a reader can only refuse the intended fault.
///
/// It derives everything itself, from `docs/spec/format.md` alone.
struct BlobForge {
    /// A chunk as the forger sets it. Index and mark are usually the true ones.
    struct Chunk {
        var plaintext: [UInt8]
        var index: UInt64
        var isLast: Bool
        /// The associated data; `nil` for the whole header, as the format requires.
        var associated: [UInt8]?

        init(_ plaintext: [UInt8], index: UInt64 = 0, isLast: Bool = true, associated: [UInt8]? = nil) {
            self.plaintext = plaintext
            self.index = index
            self.isLast = isLast
            self.associated = associated
        }
    }

    /// The header without its commitment: 144 bytes.
    private(set) var fields: [UInt8]
    let key: VectorKey

    /// Creates a header as a sealer does: sequence 1 (0 for streams), sealed at 1,700,000,000,000, JSON in records.
    init(_ salt: String, place: Vector.Place = .init(), key: VectorKey = .a, codec: UInt8? = nil) {
        self.key = key
        fields = [UInt8](repeating: 0, count: 144)
        set(0, Array("SEAL".utf8) + [1, 1, place.kind.rawValue, 0])
        set(12, integer(key.epoch))
        let group = prefixed(place.group)
        set(16, tag("SealedState.grp1", group))
        set(32, tag("SealedState.nam1", group + [place.kind.rawValue] + prefixed(place.name)))
        set(48, BLAKE2b.hash([], key: key.bytes, personalization: Personalization("SealedState.kid1"), count: 16))
        set(64, integer(UInt64(place.kind == .stream ? 0 : 1)))
        set(72, integer(UInt64(1_700_000_000_000)))
        set(104, [codec ?? (place.kind == .record ? 1 : 0)])
        set(112, vectorSalt(salt))
    }

    /// Replaces the bytes at an offset.
    mutating func set(_ offset: Int, _ bytes: [UInt8]) {
        fields.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    /// Returns a copy with other bytes at an offset.
    func with(_ offset: Int, _ bytes: [UInt8]) -> BlobForge {
        var copy = self
        copy.set(offset, bytes)
        return copy
    }

    /// Returns the header with its commitment, followed by the chunks.
    func sealed(chunks: [Chunk]) -> [UInt8] {
        let derived = BLAKE2b.hash(
            fields, key: key.bytes, personalization: Personalization("SealedState.sub1"), count: 64)
        let header = fields + derived[32...]
        return header + chunks.flatMap { seal($0, header: header, subkey: Array(derived[..<32])) }
    }

    /// Returns a blob of one chunk.
    func sealed(_ plaintext: [UInt8]) -> [UInt8] { sealed(chunks: [Chunk(plaintext)]) }

    private func seal(_ chunk: Chunk, header: [UInt8], subkey: [UInt8]) -> [UInt8] {
        let nonce = integer(chunk.index) + [UInt8](repeating: 0, count: 15) + [chunk.isLast ? 1 : 0]
        let associated = chunk.associated ?? header
        var output = [UInt8](repeating: 0, count: chunk.plaintext.count + XChaCha20Poly1305.tagSize)
        chunk.plaintext.withUnsafeBytes { plaintext in
            associated.withUnsafeBytes { associated in
                nonce.withUnsafeBytes { nonce in
                    subkey.withUnsafeBytes { subkey in
                        output.withUnsafeMutableBytes {
                            XChaCha20Poly1305.seal(
                                plaintext, associated: associated, nonce: nonce, key: subkey, into: $0)
                        }
                    }
                }
            }
        }
        return output
    }

    private func tag(_ use: StaticString, _ input: [UInt8]) -> [UInt8] {
        BLAKE2b.hash(input, personalization: Personalization(use), count: 16)
    }
}

/// Returns the little-endian bytes of an integer.
func integer(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

private func prefixed(_ text: String) -> [UInt8] { integer(UInt32(text.utf8.count)) + Array(text.utf8) }
