/// Formats checked JSON: the order and every value stay unchanged.
struct JSONLayout {
    private let json: UnsafeRawBufferPointer
    private let isIndented: Bool
    private var output: [UInt8] = []
    private var depth = 0

    /// Returns the JSON with two spaces per level, for people.
    static func indented(_ json: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes(json, isIndented: true), as: UTF8.self)
    }

    /// Returns the JSON in one line without spaces, for machines.
    static func compact(_ json: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes(json, isIndented: false), as: UTF8.self)
    }

    /// Returns the JSON as bytes, which the caller can wipe.
    ///
    /// - Parameter json: Text that `JSONChecker` accepts.
    static func bytes(_ json: UnsafeRawBufferPointer, isIndented: Bool) -> [UInt8] {
        var layout = JSONLayout(json: json, isIndented: isIndented)
        layout.output.reserveCapacity(json.count * 2)
        var position = 0
        while position < json.count {
            if json[position] == UInt8(ascii: "\"") {
                position = layout.copyString(from: position)
            } else {
                layout.layOut(json[position], at: position)
                position += 1
            }
        }
        return layout.output
    }

    private init(json: UnsafeRawBufferPointer, isIndented: Bool) {
        self.json = json
        self.isIndented = isIndented
    }

    /// Copies a string and returns the position after it. Control characters beyond ASCII are escaped, because some
    /// terminals obey them.
    private mutating func copyString(from start: Int) -> Int {
        var position = start
        repeat {
            let byte = json[position]
            if byte == UInt8(ascii: "\\") {
                output.append(byte)
                position += 1
                output.append(json[position])
            } else if byte == 0x7F {
                output += "\\u007f".utf8
            } else if byte == 0xC2, (0x80...0x9F).contains(json[position + 1]) {
                position += 1
                output += "\\u00\(String(json[position], radix: 16))".utf8
            } else {
                output.append(byte)
            }
            position += 1
        } while json[position] != UInt8(ascii: "\"")
        output.append(UInt8(ascii: "\""))
        return position + 1
    }

    private mutating func layOut(_ byte: UInt8, at position: Int) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            output.append(byte)
            depth += 1
            // `{}` and `[]` remain in one line. The codes of a pair of brackets differ by two.
            if json[(position + 1)...].first(where: { !Self.isSpace($0) }) != byte + 2 { breakLine() }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if output.last != byte - 2 { breakLine() }
            output.append(byte)
        case UInt8(ascii: ","):
            output.append(byte)
            breakLine()
        case UInt8(ascii: ":"): output += (isIndented ? ": " : ":").utf8
        default: if !Self.isSpace(byte) { output.append(byte) }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private mutating func breakLine() {
        guard isIndented else { return }
        output.append(0x0A)
        output += [UInt8](repeating: 0x20, count: 2 * depth)
    }
}
