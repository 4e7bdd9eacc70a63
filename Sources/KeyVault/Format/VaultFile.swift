internal import CryptoPrimitives

/// A vault file taken apart: nothing in it is believed yet except that it is undamaged.
struct VaultFile: Sendable {
    /// No vault file is larger: 64 MiB of items and room for their metadata.
    static let maximumSize = 80 * 1024 * 1024

    let header: VaultHeader
    /// Header and checksum, as they lie in the file.
    let headerBytes: ArraySlice<UInt8>
    /// The keyed code behind them.
    let code: ArraySlice<UInt8>
    /// The sealed body.
    let body: ArraySlice<UInt8>

    /// Reads a vault file.
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
        let reserved: UInt16 = try reader.integer()
        let generation: UInt64 = try reader.integer()
        let vaultID = Array(try reader.take(16))
        let areaSize: UInt32 = try reader.integer()
        let alsoReserved: UInt32 = try reader.integer()
        guard reserved == 0, alsoReserved == 0, (1...VaultHeader.maximumSlots).contains(Int(slotCount)),
            areaSize <= VaultHeader.maximumSlotAreaSize, generation > 0
        else { throw .corrupt(path, "Its header has impossible numbers.") }
        let area = try reader.take(Int(areaSize))
        let summed = Array(bytes[0..<VaultHeader.fixedSize + area.count])
        let checksum = try reader.take(VaultHeader.checksumSize)
        guard BLAKE2b.hash(summed, personalization: .vaultChecksum, count: 32).elementsEqual(checksum) else {
            throw .corrupt(path, "Its header's checksum does not fit.")
        }
        code = try reader.take(VaultHeader.codeSize)
        body = try reader.take(reader.count)
        headerBytes = bytes[0..<summed.count + VaultHeader.checksumSize]
        let slots = try KeySlot.parse(area, count: Int(slotCount), path: path)
        header = VaultHeader(vaultID: vaultID, generation: generation, slots: slots)
    }
}

extension VaultError {
    static func corrupt(_ path: String, _ reason: String) -> VaultError {
        VaultError(.corrupt, "open the vault", path, reason)
    }
}
