/// Runs of printable ASCII in UTF-16, little-endian, at even and odd positions.
enum WideRuns {
    /// Shorter ones are chance.
    private static let shortest = 8

    /// The runs as ASCII, each followed by a line end.
    static func text(in bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var text: [UInt8] = []
        var index = 0
        while index + 1 < bytes.count {
            guard bytes[index + 1] == 0, isPrintable(bytes[index]) else {
                index += 1
                continue
            }
            let start = index
            while index + 1 < bytes.count, bytes[index + 1] == 0, isPrintable(bytes[index]) { index += 2 }
            guard (index - start) / 2 >= shortest else { continue }
            text.append(contentsOf: stride(from: start, to: index, by: 2).lazy.map { bytes[$0] })
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    private static func isPrintable(_ byte: UInt8) -> Bool { 0x20...0x7E ~= byte || byte == UInt8(ascii: "\t") }
}
