/// Machine-readable output: one line, fields in the given order.
package indirect enum JSONText {
    case string(String)
    case number(Int)
    case unsigned(UInt64)
    case bool(Bool)
    case null
    case array([JSONText])
    case object([(String, JSONText)])
    /// JSON that was checked and is written unchanged.
    case verbatim(String)

    /// Returns a string, or null for `nil`.
    package static func optional(_ text: String?) -> JSONText { text.map { .string($0) } ?? .null }

    package var text: String {
        switch self {
        case .string(let text): Self.quoted(text)
        case .number(let number): String(number)
        case .unsigned(let number): String(number)
        case .bool(let value): value ? "true" : "false"
        case .null: "null"
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let fields):
            "{" + fields.map { "\(Self.quoted($0.0)):\($0.1.text)" }.joined(separator: ",") + "}"
        case .verbatim(let text): text
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            default:
                if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }
}
