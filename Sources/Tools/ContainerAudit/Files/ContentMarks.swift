/// What the first bytes of a file say besides its class.
struct ContentMarks: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    /// The memory of a program that crashed: an ELF file of type `ET_CORE` (elf(5)).
    static let coreDump = ContentMarks(rawValue: 1)
    /// Random bytes, or such bytes in hexadecimal or base64 and nothing else, of a size that keys have.
    static let keySized = ContentMarks(rawValue: 2)
    /// A process id and nothing else, as lock files of many programs hold it.
    static let processID = ContentMarks(rawValue: 4)

    /// - Parameters:
    ///   - head: The first bytes.
    ///   - size: Of the whole file.
    static func of(_ head: [UInt8], size: Int64) -> ContentMarks {
        var marks: ContentMarks = []
        if isCoreDump(head) { marks.insert(.coreDump) }
        guard head.count == Int(size) else { return marks }
        if KeyMaterial.isLikely(head) { marks.insert(.keySized) }
        if processID(in: head) != nil { marks.insert(.processID) }
        return marks
    }

    /// The id in a file that holds nothing else; nil where there is none.
    static func processID(in bytes: [UInt8]) -> Int32? {
        guard bytes.count <= 16 else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).trimmingSpace
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int32(text).flatMap { $0 > 1 ? $0 : nil } : nil
    }

    private static func isCoreDump(_ head: [UInt8]) -> Bool {
        guard head.count >= 18, head.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return false }
        // Byte 5 says which end of a number comes first.
        let type = head[5] == 2 ? UInt16(head[16]) << 8 | UInt16(head[17]) : UInt16(head[17]) << 8 | UInt16(head[16])
        return type == 4
    }
}

extension String {
    /// Without white space at both ends.
    var trimmingSpace: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
