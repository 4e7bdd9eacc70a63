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
    /// No vault is written that often; a larger number would leave no room for the next write.
    static let maximumGeneration: UInt64 = 1 << 62

    /// Whether the file is a vault in use or a backup of one.
    let purpose: VaultPurpose
    /// 16 random bytes, made with the vault.
    let vaultID: [UInt8]
    /// +1 for each write; the body's sequence has to be the same, so that header and body cannot be mixed.
    var generation: UInt64
    var slots: [KeySlot]

    /// Everything that checksum and code are computed over.
    ///
    /// - Parameter bodySize: Of the sealed body, in bytes: a reader knows the file's size before it reads the body.
    private func encoded(bodySize: Int) -> [UInt8] {
        let area = slots.flatMap(\.encoded)
        var writer = ByteWriter()
        writer.append(Self.magic)
        writer.append(Self.version)
        writer.append(UInt8(slots.count))
        writer.append(purpose.rawValue)
        writer.append(UInt8(0))
        writer.append(generation)
        writer.append(vaultID)
        writer.append(UInt32(area.count))
        writer.append(UInt32(bodySize))
        writer.append(area)
        return writer.bytes
    }

    /// The whole file: header, checksum, code, then the sealed body.
    func file(with body: [UInt8], root: borrowing SecretBytes) -> [UInt8] {
        let header = encoded(bodySize: body.count)
        let summed = header + BLAKE2b.hash(header, personalization: .vaultChecksum, count: Self.checksumSize)
        var file: [UInt8] = []
        file.reserveCapacity(summed.count + Self.codeSize + body.count)
        file += summed
        file += Self.code(summed, body: body[...], root)
        file += body
        return file
    }

    /// Whether the code behind the header fits the root and the body that follows.
    static func isAuthentic(_ head: VaultHead, root: borrowing SecretBytes) -> Bool {
        Self.code(head.summed, body: head.bodyHeader[...], root).withRawBytes { expected in
            head.code.withRawBytes { ConstantTime.areEqual(expected, $0) }
        }
    }

    /// Over the body's header as well: salt and commitment in it make the code the name of exactly one write.
    private static func code(
        _ summed: [UInt8], body: ArraySlice<UInt8>, _ root: borrowing SecretBytes
    ) -> [UInt8] {
        let bytes = summed + body.prefix(VaultHead.bodyHeaderSize)
        return root.withUnsafeBytes { root in
            [UInt8](unsafeUninitializedCapacity: codeSize) { output, count in
                bytes.withRawBytes { bytes in
                    BLAKE2b.hash(
                        bytes, key: root, personalization: .vaultHeaderCode,
                        into: UnsafeMutableRawBufferPointer(
                            rebasing: UnsafeMutableRawBufferPointer(output)[0..<codeSize]))
                }
                count = codeSize
            }
        }
    }
}

/// What a vault file is for.
enum VaultPurpose: UInt8, Sendable {
    /// The vault of an access group.
    case vault = 0
    /// A backup: opened only to be imported.
    case export = 1
}
