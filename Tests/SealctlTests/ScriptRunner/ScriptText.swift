/// The expected text of a stream in a script. `[..]` matches any part of a line, and `...` any lines.
struct ScriptText {
    private let lines: [String]
    private let endsWithLineFeed: Bool

    init(_ lines: [String]) {
        endsWithLineFeed = lines.last?.hasSuffix("\\") != true
        self.lines = endsWithLineFeed ? lines : lines.dropLast() + [String(lines.last?.dropLast() ?? "")]
    }

    func matches(_ text: String) -> Bool {
        if lines.isEmpty { return text.isEmpty }
        if lines == ["..."] { return true }
        guard text.hasSuffix("\n") == endsWithLineFeed else { return false }
        let body = endsWithLineFeed ? text.dropLast() : text[...]
        let actual = body.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        return Self.match(lines[...], actual[...])
    }

    private static func match(_ expected: ArraySlice<String>, _ actual: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return actual.isEmpty }
        if first == "..." {
            return (actual.startIndex...actual.endIndex).contains { match(expected.dropFirst(), actual[$0...]) }
        }
        guard let line = actual.first, isMatch(first, line) else { return false }
        return match(expected.dropFirst(), actual.dropFirst())
    }

    /// Returns `true` if a line contains the parts between the wildcards, in their order.
    private static func isMatch(_ pattern: String, _ line: String) -> Bool {
        let parts = pattern.split(separator: "[..]", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return pattern == line }
        guard line.hasPrefix(parts[0]), let last = parts.last else { return false }
        var rest = line.dropFirst(parts[0].count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
