internal import PropertyLists
internal import SharedFiles

/// Property lists as `defaults read` prints them: OpenStep's notation, which `write` and Xcode read.
///
/// The output is ASCII, so that it cannot control a terminal. Data is written in full.
enum OldStyleText {
    static func text(of value: PropertyListValue) -> String {
        var output = ""
        add(value, to: &output, depth: 0)
        return output
    }

    /// Returns a text for a terminal, with control characters escaped.
    static func shown(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0).printable }
                .joined(separator: "\t")
        }.joined(separator: "\n")
    }

    /// - Parameter depth: The number of enclosing containers. The depth of a value from a file is already limited.
    private static func add(_ value: PropertyListValue, to output: inout String, depth: Int) {
        switch value {
        case .bool(let value): output += value ? "1" : "0"
        case .integer(let value): output += quoted(String(value))
        case .unsigned(let value): output += String(value)
        case .real(let value): output += quoted(number(value))
        case .date(let date): output += quoted(date.oldStyleText)
        case .data(let bytes): output += "<" + bytes.map(hex).joined() + ">"
        case .string(let text): output += quoted(text)
        case .array(let values): add(values, to: &output, depth: depth)
        case .dictionary(let members): add(members, to: &output, depth: depth)
        }
    }

    private static func add(_ values: [PropertyListValue], to output: inout String, depth: Int) {
        output += "(\n"
        for (index, value) in values.enumerated() {
            output += indent(depth + 1)
            add(value, to: &output, depth: depth + 1)
            output += index + 1 < values.count ? ",\n" : "\n"
        }
        output += indent(depth) + ")"
    }

    private static func add(_ members: [String: PropertyListValue], to output: inout String, depth: Int) {
        output += "{\n"
        for (key, value) in PropertyList.sorted(members) {
            output += indent(depth + 1) + quoted(key) + " = "
            add(value, to: &output, depth: depth + 1)
            output += ";\n"
        }
        output += indent(depth) + "}"
    }

    private static func indent(_ depth: Int) -> String { String(repeating: "    ", count: depth) }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static func number(_ value: Double) -> String {
        if let whole = Int64(exactly: value), abs(value) < 1e15 { return String(whole) }
        return String(value)
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
            default: false
            }
        }
        if isPlain, !text.isEmpty { return text }
        return "\"" + text.unicodeScalars.map(escaped).joined() + "\""
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\t": "\\t"
        case "\r": "\\r"
        default:
            0x20..<0x7F ~= scalar.value ? String(scalar) : String(scalar).utf16.map { "\\U" + digits($0) }.joined()
        }
    }

    private static func digits(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension PropertyListDate {
    /// The date in the form `2026-11-21 03:30:00 +0000`.
    var oldStyleText: String {
        let time = CivilTime(self)
        return "\(time.dayText) \(time.clockText) +0000"
    }
}
