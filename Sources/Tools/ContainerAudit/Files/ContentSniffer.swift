internal import Sealing

/// Detects content by its first bytes.
enum ContentSniffer {
    /// - Parameter head: The first bytes of a file, or all bytes of a short one.
    static func classify(_ head: [UInt8]) -> FileClass {
        if head.isEmpty { return .empty }
        if let known = signatures.first(where: { head.starts(with: $0.bytes) }) { return known.kind }
        guard isText(head) else { return .binary }
        return textClass(head)
    }

    /// Returns whether it begins with the magic of sealed blobs.
    static func hasBlobMagic(_ head: [UInt8]) -> Bool {
        head.starts(with: UnsafeRawBufferPointer(start: BlobLayout.magic.utf8Start, count: 4))
    }

    // The magic numbers of vault and key file: docs/spec/vault.md. SQLite: https://sqlite.org/fileformat2.html,
    // sections 1.3, 4.1.
    private static let signatures: [(bytes: [UInt8], kind: FileClass)] = [
        (Array("SVLT".utf8) + [2], .sealedVault),
        (Array("sealed-key-1 ".utf8), .keyFile),
        (Array("bplist".utf8), .binaryPropertyList),
        (Array("SQLite format 3\0".utf8), .sqlite),
        ([0x37, 0x7F, 0x06, 0x82], .sqlite),
        ([0x37, 0x7F, 0x06, 0x83], .sqlite),
        ([0xFF, 0xFE], .text),
        ([0xFE, 0xFF], .text),
    ]

    /// Returns whether the bytes are UTF-8 without the control characters that text never has. An incomplete character
    /// at the end is accepted.
    static func isText(_ head: [UInt8]) -> Bool {
        let hasControls = head.contains { $0 < 0x20 && !(0x07...0x0D).contains($0) && $0 != 0x1B || $0 == 0x7F }
        if hasControls { return false }
        var decoder = UTF8()
        var bytes = head.makeIterator()
        var decoded = 0
        while true {
            switch decoder.decode(&bytes) {
            case .scalarValue(let scalar): decoded += UTF8.width(scalar)
            case .emptyInput: return true
            case .error: return head.count - decoded < 4 && head.count >= FileClassifier.headSize
            }
        }
    }

    private static func textClass(_ head: [UInt8]) -> FileClass {
        let body = head.starts(with: [0xEF, 0xBB, 0xBF]) ? head[3...] : head[...]
        let dense = body.lazy.filter { $0 > 0x20 }
        let start = Array(dense.prefix(2))
        if looksLikeJSON(start) { return .json }
        let opening = String(decoding: body.prefix(1024), as: UTF8.self)
        return opening.contains("<plist") || opening.contains("<!DOCTYPE plist") ? .propertyList : .text
    }

    /// Checks the first two characters: an object's first key or end, an array's first value or end.
    private static func looksLikeJSON(_ start: [UInt8]) -> Bool {
        guard let first = start.first else { return false }
        if first == UInt8(ascii: "{") { return start.count == 1 || "\"}".utf8.contains(start[1]) }
        if first == UInt8(ascii: "[") { return start.count == 1 || "{[\"]-0123456789tfn".utf8.contains(start[1]) }
        return false
    }
}

/// The marks in the first bytes of a file besides its class.
struct ContentMarks: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    /// The file is the memory of a crashed program: an ELF file of type `ET_CORE` (elf(5)).
    static let coreDump = ContentMarks(rawValue: 1)
    /// The file contains only random bytes of a key's size, raw or in hexadecimal or base64.
    static let keySized = ContentMarks(rawValue: 2)
    /// The file contains only a process id, as lock files of many programs do.
    static let processID = ContentMarks(rawValue: 4)

    /// - Parameters:
    ///   - head: The first bytes.
    ///   - size: The size of the whole file.
    static func of(_ head: [UInt8], size: Int64) -> ContentMarks {
        var marks: ContentMarks = []
        if isCoreDump(head) { marks.insert(.coreDump) }
        guard head.count == Int(size) else { return marks }
        if KeyMaterial.isLikely(head) { marks.insert(.keySized) }
        if processID(in: head) != nil { marks.insert(.processID) }
        return marks
    }

    /// Returns the process id in a file that contains nothing else, or `nil` for other files.
    static func processID(in bytes: [UInt8]) -> Int32? {
        guard bytes.count <= 16 else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).trimmingSpace
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int32(text).flatMap { $0 > 1 ? $0 : nil } : nil
    }

    private static func isCoreDump(_ head: [UInt8]) -> Bool {
        guard head.count >= 18, head.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return false }
        // Byte 5 specifies the byte order.
        let type = head[5] == 2 ? UInt16(head[16]) << 8 | UInt16(head[17]) : UInt16(head[17]) << 8 | UInt16(head[16])
        return type == 4
    }
}

extension String {
    /// The text without white space at both ends.
    var trimmingSpace: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
