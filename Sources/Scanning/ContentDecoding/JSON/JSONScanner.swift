/// Takes JSON apart into tokens (RFC 8259).
struct JSONScanner: ~Copyable {
    var window: JSONWindow
    /// The line at hand, from 1: line ends stand between tokens only.
    private(set) var line = 1

    init(_ source: any ByteSource) throws(CarrierFault) {
        window = try JSONWindow(source)
        if window.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { window.position = 3 }
    }

    /// The next byte that is no white space, which is not taken; nil at the end.
    mutating func next() throws(CarrierFault) -> UInt8? {
        while true {
            let bytes = window.bytes
            var position = window.position
            while position < bytes.count {
                let byte = bytes[position]
                guard byte <= 0x20 else {
                    window.position = position
                    return byte
                }
                if byte == 0x0A { line += 1 }
                // Some streams part their values with record separators (RFC 7464).
                guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 || byte == 0x1E else {
                    window.position = position
                    return byte
                }
                position += 1
            }
            window.position = position
            guard try window.more(keeping: position) else { return nil }
        }
    }

    /// The range of a string's contents in the window, behind whose end mark the position is then.
    ///
    /// - Returns: Nil, and the position stays, where it has no end or is too long.
    mutating func string() throws(CarrierFault) -> (range: Range<Int>, hasEscapes: Bool)? {
        var scanned = 1
        var hasEscapes = false
        while true {
            let bytes = window.bytes
            let start = window.position
            var position = start + scanned
            while position < bytes.count {
                let byte = bytes[position]
                if byte == UInt8(ascii: "\"") {
                    window.position = position + 1
                    return (start + 1..<position, hasEscapes)
                }
                if byte == UInt8(ascii: "\\") {
                    hasEscapes = true
                    position += 1
                }
                position += 1
            }
            // A backslash may be the last byte that is held: what it stands for is stepped over already.
            scanned = position - start
            guard try window.more(keeping: start) else { return nil }
        }
    }

    /// The range of a number or a word, behind which the position is then.
    mutating func word() throws(CarrierFault) -> Range<Int> {
        var scanned = 0
        while true {
            let bytes = window.bytes
            let start = window.position
            var position = start + scanned
            while position < bytes.count, Self.isOfWord(bytes[position]) { position += 1 }
            scanned = position - start
            guard position == bytes.count, try window.more(keeping: start) else {
                let start = window.position
                window.position = start + scanned
                return start..<start + scanned
            }
        }
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}
