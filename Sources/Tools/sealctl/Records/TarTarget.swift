internal import SharedFiles

/// A snapshot as a tar file in the format of POSIX.1-2001 ("pax"), which supports long names.
final class TarTarget: SnapshotTarget {
    private let output: OutputFile
    private let begun = FileTime.now
    /// The size in bytes of the file that is being written.
    private var size: Int64 = 0

    /// - Parameter place: The place; `nil` for standard output.
    init(_ place: SnapshotPlace?) throws(Failure) {
        output = try OutputFile(place?.argument ?? "-", mode: 0o600, replacing: false)
    }

    func addDirectory(_ path: String) throws(Failure) {
        try add(TarHeader(path: path + "/", size: 0, kind: .directory, modified: begun).blocks)
    }

    func beginFile(_ path: String, size: Int64, modified: FileTime) throws(Failure) {
        self.size = size
        try add(TarHeader(path: path, size: size, kind: .file, modified: modified).blocks)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        do throws(FileError) { try output.write(bytes) } catch { throw Failure(error, .output) }
    }

    func endFile() throws(Failure) { try add(TarHeader.padding(after: size)) }

    func commit() throws(Failure) {
        try add([UInt8](repeating: 0, count: 2 * TarHeader.blockSize))
        try output.commit()
    }

    /// Does nothing, because the file has no name before `commit()`.
    func discard() {}
}

/// The header of one entry of a tar file, as pax(1) of POSIX.1-2001 has it.
struct TarHeader {
    enum Kind: UInt8 {
        case file = 0x30
        case directory = 0x35
        /// Fields that are too long for the header of the next entry.
        case extended = 0x78
    }

    static let blockSize = 512
    private static let longestName = 100
    /// The largest number that eleven octal digits can represent.
    private static let largest: Int64 = 0o77777777777

    let path: String
    let size: Int64
    let kind: Kind
    let modified: FileTime

    /// The header's blocks, with an extended header before it where one is needed.
    var blocks: [UInt8] {
        var records = ""
        let isPlain = path.utf8.count <= Self.longestName && path.utf8.allSatisfy { $0 < 0x80 }
        if !isPlain { records += Self.record("path", path) }
        if size > Self.largest { records += Self.record("size", String(size)) }
        if !(0...Self.largest).contains(modified.seconds) { records += Self.record("mtime", String(modified.seconds)) }
        guard !records.isEmpty else { return block }
        let body = Array(records.utf8)
        let extended = TarHeader(
            path: "pax/" + String(decoding: path.utf8.suffix(64).filter { $0 < 0x80 }, as: UTF8.self),
            size: Int64(body.count), kind: .extended, modified: modified)
        return extended.block + body + Self.padding(after: Int64(body.count)) + block
    }

    /// Returns zeros up to the end of a block.
    static func padding(after size: Int64) -> [UInt8] {
        [UInt8](repeating: 0, count: (blockSize - Int(size % Int64(blockSize))) % blockSize)
    }

    private var block: [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.blockSize)
        func put(_ text: some Sequence<UInt8>, at offset: Int) {
            for (index, byte) in text.enumerated() { block[offset + index] = byte }
        }
        put(path.utf8.prefix(Self.longestName).map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, at: 0)
        put((kind == .directory ? "0000700\0" : "0000600\0").utf8, at: 100)
        put("0000000\0".utf8, at: 108)
        put("0000000\0".utf8, at: 116)
        put(Self.octal(size > Self.largest ? 0 : size, digits: 11), at: 124)
        put(Self.octal(modified.seconds, digits: 11), at: 136)
        put("        ".utf8, at: 148)
        block[156] = kind.rawValue
        put("ustar\u{0}00".utf8, at: 257)
        let sum = block.reduce(0) { $0 + Int64($1) }
        put(Self.octal(sum, digits: 6) + [0, 0x20], at: 148)
        return block
    }

    private static func octal(_ number: Int64, digits: Int) -> [UInt8] {
        let text = String(min(max(0, number), largest), radix: 8)
        return Array((String(repeating: "0", count: max(0, digits - text.count)) + text).utf8)
    }

    /// Returns `LENGTH KEY=VALUE\n`, where the length includes its own digits.
    private static func record(_ key: String, _ value: String) -> String {
        let rest = " \(key)=\(value)\n"
        var length = rest.utf8.count + 1
        while "\(length)".utf8.count + rest.utf8.count != length { length += 1 }
        return "\(length)\(rest)"
    }
}
