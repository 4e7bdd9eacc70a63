/// One way into a vault: public parameters and the wrapped vault secrets.
struct KeySlot: Hashable, Sendable {
    static let fixedSize = 24

    let kind: SlotKind
    let reach: SlotReach
    /// Unique within the vault's life, from 1.
    let id: UInt32
    /// Milliseconds since 1970.
    let createdAt: UInt64
    var payload: [UInt8]

    /// The fields before the payload; bound to it as associated data, without the payload's length.
    var preamble: [UInt8] {
        var writer = ByteWriter()
        writer.append(kind.rawValue)
        writer.append(reach.rawValue)
        writer.append(UInt16(0))
        writer.append(id)
        writer.append(createdAt)
        return writer.bytes
    }

    /// The size of `encoded` in bytes.
    var encodedSize: Int { Self.fixedSize + payload.count }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(preamble)
        writer.append(UInt32(payload.count))
        writer.append(UInt32(0))
        writer.append(payload)
        return writer.bytes
    }

    /// Reads `count` slots that fill the area exactly.
    static func parse(_ area: ArraySlice<UInt8>, count: Int, path: String) throws(VaultError) -> [KeySlot] {
        var reader = ByteReader(area, path: path)
        var slots: [KeySlot] = []
        for _ in 0..<count { slots.append(try parse(&reader, path: path)) }
        guard reader.isAtEnd else { throw VaultError.corrupt(path, "There is something behind its key slots.") }
        return slots
    }

    private static func parse(_ reader: inout ByteReader, path: String) throws(VaultError) -> KeySlot {
        let kindByte: UInt8 = try reader.integer()
        let reachByte: UInt8 = try reader.integer()
        let reserved: UInt16 = try reader.integer()
        let id: UInt32 = try reader.integer()
        let createdAt: UInt64 = try reader.integer()
        let size: UInt32 = try reader.integer()
        let alsoReserved: UInt32 = try reader.integer()
        guard let kind = SlotKind(rawValue: kindByte), let reach = SlotReach(rawValue: reachByte) else {
            throw VaultError(
                .unsupported, "open the vault", path, "It has a key slot of kind \(kindByte), reach \(reachByte).")
        }
        guard reserved == 0, alsoReserved == 0, id > 0, kind.permits(reach), size == kind.payloadSize(reach: reach)
        else {
            throw VaultError.corrupt(path, "A key slot has impossible numbers.")
        }
        return KeySlot(
            kind: kind, reach: reach, id: id, createdAt: createdAt, payload: Array(try reader.take(Int(size))))
    }
}
