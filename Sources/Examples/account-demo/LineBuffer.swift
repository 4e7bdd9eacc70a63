/// Turns what a pipe delivers into lines.
struct LineBuffer {
    private var bytes: [UInt8] = []

    mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

    /// The lines that have their end.
    mutating func takeWhole() -> [String] {
        guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = bytes[...last].split(separator: UInt8(ascii: "\n"))
        bytes.removeSubrange(...last)
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    /// All lines, and what stands at the end without one.
    mutating func takeAll() -> [String] {
        defer { bytes = [] }
        return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }
}
