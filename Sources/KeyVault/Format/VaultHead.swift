internal import CryptoPrimitives
internal import Sealing

/// The front part of a vault file taken apart: nothing in it is believed yet except that it is undamaged.
///
/// It is read and checked before the body, so that a wrong, hostile or unopened file of any size costs little.
struct VaultHead: Sendable {
    /// The longest front part.
    static let maximumSize =
        VaultHeader.fixedSize + VaultHeader.maximumSlotAreaSize + VaultHeader.checksumSize + VaultHeader.codeSize
        + bodyHeaderSize
    static let bodyHeaderSize = BlobLayout.headerSize

    let header: VaultHeader
    /// Header and checksum, as they lie in the file.
    let summed: [UInt8]
    /// The keyed code behind them: once it is verified, the name of one write.
    let code: [UInt8]
    /// The header of the sealed body.
    let bodyHeader: [UInt8]

    /// The size of the sealed body in bytes, as the header says.
    let bodySize: Int
    /// Where the sealed body begins.
    var bodyOffset: Int { summed.count + VaultHeader.codeSize }
    /// All of it, as it lies in the file: while a file begins with the same bytes it is the same write.
    let bytes: [UInt8]

    /// Reads the front part from a file's first bytes.
    ///
    /// - Throws: `VaultError` `.corrupt` or `.unsupported`.
    init(parsing bytes: [UInt8], path: String) throws(VaultError) {
        var reader = ByteReader(bytes[...], path: path)
        guard try reader.take(4).elementsEqual(VaultHeader.magic) else {
            throw .corrupt(path, "It does not begin with the magic SVLT.")
        }
        let version: UInt8 = try reader.integer()
        guard version == VaultHeader.version else {
            throw VaultError(.unsupported, "open the vault", path, "It has version \(version); known: 1.")
        }
        let slotCount: UInt8 = try reader.integer()
        let purposeByte: UInt8 = try reader.integer()
        let reserved: UInt8 = try reader.integer()
        let generation: UInt64 = try reader.integer()
        let vaultID = Array(try reader.take(16))
        let areaSize: UInt32 = try reader.integer()
        let bodySize: UInt32 = try reader.integer()
        guard reserved == 0, (1...VaultHeader.maximumSlots).contains(Int(slotCount)),
            areaSize <= VaultHeader.maximumSlotAreaSize, (1...VaultHeader.maximumGeneration).contains(generation),
            let purpose = VaultPurpose(rawValue: purposeByte)
        else { throw .corrupt(path, "Its header has impossible numbers.") }
        let area = try reader.take(Int(areaSize))
        let headerSize = VaultHeader.fixedSize + area.count
        let checksum = try reader.take(VaultHeader.checksumSize)
        let expected = BLAKE2b.hash(
            Array(bytes[..<headerSize]), personalization: .vaultChecksum, count: VaultHeader.checksumSize)
        guard expected.elementsEqual(checksum) else { throw .corrupt(path, "Its header's checksum does not fit.") }
        self.bodySize = Int(bodySize)
        code = Array(try reader.take(VaultHeader.codeSize))
        bodyHeader = Array(try reader.take(Self.bodyHeaderSize))
        summed = Array(bytes[..<(headerSize + VaultHeader.checksumSize)])
        let slots = try KeySlot.parse(area, count: Int(slotCount), path: path)
        guard Set(slots.map(\.id)).count == slots.count else {
            throw .corrupt(path, "Two of its key slots have one number.")
        }
        self.bytes = Array(
            bytes[..<(headerSize + VaultHeader.checksumSize + VaultHeader.codeSize + Self.bodyHeaderSize)])
        header = VaultHeader(purpose: purpose, vaultID: vaultID, generation: generation, slots: slots)
    }
}

extension VaultError {
    static func corrupt(_ path: String, _ reason: String) -> VaultError {
        VaultError(.corrupt, "open the vault", path, reason)
    }
}
