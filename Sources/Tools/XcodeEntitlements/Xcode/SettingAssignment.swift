/// An assignment of a build setting, with its conditions.
struct SettingAssignment: Sendable {
    let name: String
    let conditions: [SettingCondition]
    let value: String

    /// - Parameter key: A name, or a name with conditions: `NAME[sdk=iphoneos*][arch=arm64]`, `NAME[sdk=a*,arch=b]`.
    init?(key: some StringProtocol, value: String) {
        let bracket = key.firstIndex(of: "[") ?? key.endIndex
        name = key[..<bracket].trimmingSpace
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else { return nil }
        conditions = key[bracket...].split(whereSeparator: { "[],".contains($0) })
            .map(\.trimmingSpace)
            .filter { !$0.isEmpty }.map(SettingCondition.init)
        self.value = value
    }

    func applies(for sdk: String, _ configuration: String) -> Bool {
        conditions.allSatisfy { $0.holds(for: sdk, configuration) }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// A condition with a pattern, in which `*` matches any text: `sdk=iphoneos*`.
struct SettingCondition: Sendable {
    private let key: String
    private let pattern: String

    init(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        key = parts[0].trimmingSpace
        pattern = parts.count > 1 ? parts[1].trimmingSpace : ""
    }

    func holds(for sdk: String, _ configuration: String) -> Bool {
        switch key {
        case "sdk": Wildcard.matches(sdk, pattern)
        case "config": Wildcard.matches(configuration, pattern)
        // The architecture of all current devices.
        case "arch": Wildcard.matches("arm64", pattern)
        case "variant": Wildcard.matches("normal", pattern)
        default: false
        }
    }
}

/// Patterns in which `*` matches any text, including empty text.
enum Wildcard {
    static func matches(_ text: String, _ pattern: String) -> Bool {
        let pieces = pattern.split(separator: "*", omittingEmptySubsequences: false)
        guard let first = pieces.first, text.hasPrefix(first) else { return false }
        guard let last = pieces.dropFirst().last else { return text == pattern }
        var rest = text.dropFirst(first.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let range = rest.firstRange(of: piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}

extension StringProtocol {
    /// The text without white space at both ends.
    var trimmingSpace: String {
        let isSpace: (Character) -> Bool = { $0.isWhitespace }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
