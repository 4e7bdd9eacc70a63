/// An expansion of a text, with its used budget and its unresolved names.
struct VariableExpansion {
    private static let deepest = 64
    private static let mostUnresolved = 100
    private static let longestShown = 80

    private let variables: EntitlementVariables
    private(set) var unresolved: [String] = []
    /// The settings that are being expanded, each with its level, the outermost first.
    private var open: [(name: String, level: Int)] = []
    private var depth = 0
    private(set) var budget: ExpansionBudget

    init(variables: EntitlementVariables, budget: ExpansionBudget) {
        self.variables = variables
        self.budget = budget
    }

    mutating func expand(_ text: Substring) -> String {
        depth += 1
        defer { depth -= 1 }
        var pieces = TextPieces(text)
        var expanded = ""
        while let piece = pieces.next() {
            let part: Substring
            switch piece {
            case .literal(let literal): part = literal
            case .broken(let rest): part = unexpanded(rest, as: rest)
            case .reference(let reference): part = expand(reference)[...]
            }
            // Checked even if the references are used up: the rest of the text could contain a million more.
            guard budget.takeBytes(part.utf8.count), !budget.isExceeded else {
                list(open.last?.name[...] ?? text)
                break
            }
            expanded += part
        }
        return expanded
    }

    private mutating func expand(_ reference: VariableReference) -> String {
        guard budget.takeReference(), depth < Self.deepest else {
            return String(unexpanded(reference.source, as: reference.name))
        }
        let known = unresolved.count
        let name = expand(reference.name)
        // The name itself contains a setting without a value, which is listed.
        guard unresolved.count == known else { return String(reference.source) }
        var value = value(of: name)
        for text in reference.operators {
            guard apply(text, to: &value) else {
                return String(unexpanded(reference.source, as: "\(name):\(text)"[...]))
            }
        }
        return value ?? String(unexpanded(reference.source, as: name[...]))
    }

    private mutating func value(of name: String) -> String? {
        if name == "inherited" {
            guard let outer = open.last else { return nil }
            return value(of: outer.name, from: outer.level + 1) ?? ""
        }
        // A setting that refers to itself means the one of the level below, as `$(inherited)` does.
        return value(of: name, from: open.last { $0.name == name }.map { $0.level + 1 } ?? 0)
    }

    private mutating func value(of name: String, from level: Int) -> String? {
        guard let (value, level) = variables.definition(of: name, from: level) else { return nil }
        open.append((name, level))
        defer { open.removeLast() }
        return expand(value[...])
    }

    /// Applies an operator; returns `false` if it is unknown or exceeds the budget.
    private mutating func apply(_ text: Substring, to value: inout String?) -> Bool {
        if text.hasPrefix("default=") {
            if value?.isEmpty ?? true { value = expand(text.dropFirst("default=".count)) }
            return true
        }
        guard let change = VariableOperator(rawValue: String(text)) else { return false }
        guard let old = value else { return true }
        guard budget.takeBytes(old.utf8.count) else { return false }
        value = change.apply(old)
        return true
    }

    /// Lists a name as unresolved and returns the text unchanged.
    private mutating func unexpanded(_ text: Substring, as name: Substring) -> Substring {
        list(name)
        return text
    }

    private mutating func list(_ name: Substring) {
        let shown = String(name.unicodeScalars.prefix(Self.longestShown))
        if unresolved.count < Self.mostUnresolved, !unresolved.contains(shown) { unresolved.append(shown) }
    }
}

/// The operators that change a setting's value at its use.
enum VariableOperator: String {
    case lower, upper, identifier, c99extidentifier, rfc1034identifier

    func apply(_ value: String) -> String {
        switch self {
        case .lower: value.lowercased()
        case .upper: value.uppercased()
        case .identifier: Self.identifier(value, "_") { $0 == "_" || $0.isPlainLetterOrDigit }
        case .c99extidentifier: Self.identifier(value, "_") { $0 == "_" || $0.isPlainLetterOrDigit || !$0.isASCII }
        case .rfc1034identifier: Self.identifier(value, "-") { $0 == "-" || $0.isPlainLetterOrDigit }
        }
    }

    /// Replaces invalid characters and a leading digit.
    private static func identifier(
        _ text: String, _ replacement: Character, _ isAllowed: (Character) -> Bool
    ) -> String {
        var result = ""
        for character in text {
            let isLeadingDigit = result.isEmpty && character.isASCII && character.isNumber
            result.append(isAllowed(character) && !isLeadingDigit ? character : replacement)
        }
        return result
    }
}

extension Character {
    fileprivate var isPlainLetterOrDigit: Bool { asciiValue?.isLetterOrDigit ?? false }
}

/// The limits for expanding one text, or all texts of a file.
///
/// The texts and the settings come from untrusted files: a circle, settings that each contain the next one twice, or
/// many references to one long value would otherwise exhaust memory or time.
struct ExpansionBudget {
    private static let mostReferences = 10_000
    private static let mostBytes = 1 << 20

    private var references = 0
    private var bytes = 0

    /// `true` if the limits were exceeded: the expanded text is then incomplete.
    var isExceeded: Bool { references > Self.mostReferences || bytes > Self.mostBytes }

    /// Returns whether another reference may be expanded.
    mutating func takeReference() -> Bool {
        references += 1
        return !isExceeded
    }

    /// Returns whether so many more bytes may be produced.
    mutating func takeBytes(_ count: Int) -> Bool {
        bytes += count
        return bytes <= Self.mostBytes
    }
}
