internal import PropertyLists

/// The conversions of `UserDefaults` between types (Apple's documentation of `string(forKey:)`, `bool(forKey:)` and the
/// like, and of `NSString`'s `boolValue`, `integerValue` and `doubleValue`).
extension PropertyListValue {
    var asText: String? {
        switch self {
        case .string(let text): text
        case .bool(let value): value ? "1" : "0"
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        case .real(let number): Self.text(of: number)
        default: nil
        }
    }

    var asBool: Bool? {
        switch self {
        case .bool(let value): value
        case .integer(let number): number != 0
        case .unsigned: true
        case .real(let number): number != 0
        case .string(let text): Self.truth(of: text)
        default: nil
        }
    }

    var asInteger: Int? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .integer(let number): Int(number)
        case .unsigned: nil
        case .real(let number): Int(exactly: number.rounded(.towardZero))
        case .string(let text): Self.leadingInteger(of: text)
        default: nil
        }
    }

    var asDouble: Double? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .integer(let number): Double(number)
        case .unsigned(let number): Double(number)
        case .real(let number): number
        case .string(let text): Self.leadingNumber(of: text)
        default: nil
        }
    }

    /// Returns a whole number without the point that Swift adds.
    private static func text(of number: Double) -> String {
        if let whole = Int64(exactly: number), abs(number) < 1e15 { return String(whole) }
        return String(number)
    }

    /// Returns the truth value; leading white space, a sign and zeros are ignored.
    private static func truth(of text: String) -> Bool {
        let rest = text.utf8.drop { spaces.contains($0) }
        let digits = (rest.first.map { signs.contains($0) } == true ? rest.dropFirst() : rest)
            .drop { $0 == UInt8(ascii: "0") }
        guard let first = digits.first else { return false }
        return "YyTt123456789".utf8.contains(first)
    }

    private static func leadingInteger(of text: String) -> Int? {
        let rest = text.utf8.drop { spaces.contains($0) }
        let sign = rest.prefix { signs.contains($0) }.prefix(1)
        let digits = rest.dropFirst(sign.count).prefix { isDigit($0) }
        return Int(String(decoding: sign, as: UTF8.self) + String(decoding: digits, as: UTF8.self))
    }

    private static func leadingNumber(of text: String) -> Double? {
        let rest = text.utf8.drop { spaces.contains($0) }
        var length = rest.prefix { isDigit($0) || signs.contains($0) || "eE.".utf8.contains($0) }.count
        // A number is short enough that trying every end is cheap.
        length = min(length, 64)
        for count in stride(from: length, to: 0, by: -1) {
            if let number = Double(String(decoding: rest.prefix(count), as: UTF8.self)) { return number }
        }
        return nil
    }

    private static let spaces = Set(" \t\n\r".utf8)
    private static let signs = Set("+-".utf8)

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
