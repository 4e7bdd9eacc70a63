internal import PropertyLists

/// Settings from a program's arguments: `-key value`, as Foundation's argument domain has them.
enum ArgumentDomain {
    /// Each argument that begins with one hyphen, with the argument behind it. The first argument, the program's own name,
    /// begins with none. A value that is written as a property list is one, any other is text.
    static func values(_ arguments: [String]) -> [String: PropertyListValue] {
        var values: [String: PropertyListValue] = [:]
        var index = 0
        while index + 1 < arguments.count {
            guard let key = key(arguments[index]) else {
                index += 1
                continue
            }
            values[key] = value(arguments[index + 1])
            index += 2
        }
        return values
    }

    private static func key(_ argument: String) -> String? {
        guard argument.hasPrefix("-"), !argument.hasPrefix("--"), argument.utf8.count > 1 else { return nil }
        return String(argument.dropFirst())
    }

    private static func value(_ text: String) -> PropertyListValue {
        guard let first = text.utf8.first, Self.openings.contains(first) else { return .string(text) }
        return (try? PropertyList.parse(Array(text.utf8)).value) ?? .string(text)
    }

    private static let openings = Set("({<\"".utf8)
}
