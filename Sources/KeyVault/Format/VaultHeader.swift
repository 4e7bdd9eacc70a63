internal import CryptoPrimitives

/// The open part of a vault file: which vault it is, how often it was written, and its key slots
/// (`docs/vault.md`, section 2).
///
/// A checksum tells damage from a wrong passphrase without any key; a code keyed by the root tells tampering.
struct VaultHeader: Hashable, Sendable {
    static let magic = Array("SVLT".utf8)
    static let version: UInt8 = 1
    static let fixedSize = 40
    static let checksumSize = 32
    static let codeSize = 32
    /// Bounds that hold before anything is allocated for them.
    static let maximumSlots = 32
    static let maximumSlotAreaSize = 64 * 1024

    /// 16 random bytes, made with the vault.
    let vaultID: [UInt8]
    /// +1 for each write; the body's sequence has to be the same, so that header and body cannot be mixed.
    var generation: UInt64
    var slots: [KeySlot]

    /// Everything that checksum and code are computed over.
    var encoded: [UInt8] {
        let area = slots.flatMap(\.encoded)
        var writer = ByteWriter()
        writer.append(Self.magic)
        writer.append(Self.version)
        writer.append(UInt8(slots.count))
        writer.append(UInt16(0))
        writer.append(generation)
        writer.append(vaultID)
        writer.append(UInt32(area.count))
        writer.append(UInt32(0))
        writer.append(area)
        return writer.bytes
    }

    /// The header with checksum and code behind it.
    func sealed(root: borrowing SecretBytes) -> [UInt8] {
        let header = encoded
        let summed = header + BLAKE2b.hash(header, personalization: .vaultChecksum, count: 32)
        return summed + Self.code(summed, root)
    }

    /// Whether the code behind the header fits the root.
    static func isAuthentic(_ header: ArraySlice<UInt8>, code: ArraySlice<UInt8>, root: borrowing SecretBytes) -> Bool {
        Self.code(Array(header), root).withRawBytes { expected in
            Array(code).withRawBytes { ConstantTime.areEqual(expected, $0) }
        }
    }

    private static func code(_ bytes: [UInt8], _ root: borrowing SecretBytes) -> [UInt8] {
        root.withUnsafeBytes { root in
            [UInt8](unsafeUninitializedCapacity: 32) { output, count in
                bytes.withRawBytes { bytes in
                    BLAKE2b.hash(
                        bytes, key: root, personalization: .vaultHeaderCode,
                        into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(output)[0..<32]))
                }
                count = 32
            }
        }
    }
}
