/// Splits JSON into tokens (RFC 8259).
struct JSONScanner: ~Copyable {
    var window: JSONWindow
    /// The current line, from 1. Line ends occur between tokens only.
    private(set) var line = 1

    init(_ source: any ByteSource) throws(CarrierFault) {
        window = try JSONWindow(source)
        if window.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { window.position = 3 }
    }

    /// Returns the next byte that is not white space without consuming it, or `nil` at the end.
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
                // Some streams separate their values with record separators (RFC 7464).
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

    /// Returns the range of a string's contents in the window and moves the position past its closing quote.
    ///
    /// - Returns: `nil`, with the position unchanged, if the string has no end or is too long.
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
            // A backslash may be the last available byte. The byte that it escapes is skipped already.
            scanned = position - start
            guard try window.more(keeping: start) else { return nil }
        }
    }

    /// Returns the range of a number or a word and moves the position past it.
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

/// A window on a JSON text that contains at least the current token.
struct JSONWindow: ~Copyable {
    /// The size limit. A longer token is too long to be one value.
    static let longestToken = 8 << 20
    private static let usualSize = 256 << 10

    private let source: any ByteSource
    private var storage: UnsafeMutableRawBufferPointer
    /// The available bytes, which move when more are read.
    private(set) var bytes: UnsafeRawBufferPointer
    /// The window's offset in the source.
    private(set) var start: Int64 = 0
    /// The current position in the window.
    var position = 0

    init(_ source: any ByteSource) throws(CarrierFault) {
        self.source = source
        storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        if let borrowed = source as? BorrowedSource {
            bytes = borrowed.bytes
        } else {
            bytes = UnsafeRawBufferPointer(storage)
            _ = try more(keeping: 0)
        }
    }

    deinit { storage.deallocate() }

    /// Returns the offset in the source of a byte of the window.
    func place(_ position: Int) -> Int64 { start + Int64(position) }

    /// Reads on. Bytes before `kept` are dropped, and positions move down by as much.
    ///
    /// - Returns: `false` if there are no more bytes.
    mutating func more(keeping kept: Int) throws(CarrierFault) -> Bool {
        let next = start + Int64(bytes.count)
        guard next < source.count, bytes.count - kept < Self.longestToken else { return false }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[kept...])
        let size = min(max(Self.usualSize, 2 * rest.count), Self.longestToken)
        if size > storage.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: Int(min(Int64(size), Int64(rest.count) + source.count - next)), alignment: 64)
            larger.copyMemory(from: rest)
            storage.deallocate()
            storage = larger
        } else {
            UnsafeMutableRawBufferPointer(rebasing: storage[..<rest.count]).copyMemory(from: rest)
        }
        start += Int64(kept)
        position -= kept
        let filled = try source.read(at: next, into: UnsafeMutableRawBufferPointer(rebasing: storage[rest.count...]))
        bytes = UnsafeRawBufferPointer(rebasing: storage[..<(rest.count + filled)])
        return filled > 0
    }

    /// True if the source ends with the window.
    var isLast: Bool { start + Int64(bytes.count) >= source.count }
}
