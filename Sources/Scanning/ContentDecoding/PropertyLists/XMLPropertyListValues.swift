internal import PropertyLists

/// Reads XML property lists element by element, and keyed archives in XML as archives.
///
/// Comments are read as running text, and so is everything from the first invalid part on.
package enum XMLPropertyListValues: CarrierReader {
    /// The size limit. Larger files are read as running text.
    private static let largest = 16 << 20

    package static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        guard input.source.count <= largest else { return try TextReader.read(input, walk) }
        if let borrowed = input.source as? BorrowedSource { return try read(borrowed.bytes, walk) }
        let bytes = try input.source.bytes(at: 0, count: largest)
        try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in try read(bytes, walk) }
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, _ walk: ValueWalk) throws(CarrierFault) {
        if let isBigEndian = byteOrder(bytes) {
            let text = utf8(bytes, isBigEndian: isBigEndian)
            try text.span.withUnsafeBytes { text throws(CarrierFault) in
                try walk.part(at: nil) { () throws(CarrierFault) in try readText(text, encoding: .utf16, walk) }
            }
            return
        }
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        try walk.part(at: Int64(mark)) { () throws(CarrierFault) in
            try readText(UnsafeRawBufferPointer(rebasing: bytes[mark...]), encoding: .utf8, walk)
        }
    }

    private static func readText(
        _ text: UnsafeRawBufferPointer, encoding: PropertyListText.Encoding, _ walk: ValueWalk
    ) throws(CarrierFault) {
        if try readArchive(text, walk) { return }
        var leaves = XMLValues(text, encoding: encoding, walk)
        let depth = walk.trail.depth
        guard let rest = try leaves.read() else { return }
        walk.trail.leave(to: depth)
        try walk.part(at: Int64(rest.position)) { () throws(CarrierFault) in
            let part = BorrowedSource(UnsafeRawBufferPointer(rebasing: text[rest.position...]))
            try TextReader.read(CarrierInput(part), walk, form: .xmlPropertyList, firstLine: rest.line)
        }
    }

    // MARK: Archives

    private static let limits = StructureLimits(depth: 512, values: 1_000_000, size: largest)

    /// Reads a keyed archive by converting it to the binary format. Its values have no ranges in the file.
    private static func readArchive(_ text: UnsafeRawBufferPointer, _ walk: ValueWalk) throws(CarrierFault) -> Bool {
        let head = text.prefix(Carriers.headSize)
        guard ["$archiver", "CF$UID"].contains(where: { ByteText.lastRange(of: Array($0.utf8), in: head) != nil }),
            let list = try? PropertyList.parse(text, limits: limits).value,
            let binary = try? PropertyList.bytes(of: list, as: .binary)
        else { return false }
        try binary.span.withUnsafeBytes { binary throws(CarrierFault) in
            try walk.part(at: nil) { () throws(CarrierFault) in
                try BinaryPropertyListValues.read(CarrierInput(BorrowedSource(binary)), walk)
            }
        }
        return true
    }

    // MARK: UTF-16

    private static func byteOrder(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        if bytes.starts(with: [0xFE, 0xFF]) { return true }
        return bytes.starts(with: [0xFF, 0xFE]) ? false : nil
    }

    private static func utf8(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) -> [UInt8] {
        let units = stride(from: 2, to: bytes.count - 1, by: 2).lazy.map { position in
            let (first, second) = (UInt16(bytes[position]), UInt16(bytes[position + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 2)
        _ = transcode(units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: false) { text.append($0) }
        return text
    }
}
