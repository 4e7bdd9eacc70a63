/// Text of databases in UTF-16.
enum WideText {
    /// The same text as UTF-8; half a unit at the end is lost.
    static func utf8(_ bytes: UnsafeRawBufferPointer, _ encoding: SQLiteHeader.Encoding) -> [UInt8] {
        let high = encoding == .utf16Big ? 0 : 1
        let units = (0..<bytes.count / 2).lazy.map {
            UInt16(bytes[2 * $0 + high]) << 8 | UInt16(bytes[2 * $0 + 1 - high])
        }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 2)
        _ = transcode(units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: false) { text.append($0) }
        return text
    }
}
