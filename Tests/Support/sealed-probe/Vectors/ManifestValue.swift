/// A value of `manifest.json`, whose objects keep the order of their members.
indirect enum ManifestValue {
    case text(String)
    case number(UInt64)
    case list([ManifestValue])
    case object([(String, ManifestValue)])

    /// Returns lower-case hexadecimal.
    static func hex(_ bytes: some Sequence<UInt8>) -> ManifestValue { .text(hexadecimal(Array(bytes))) }

    /// Returns the value as JSON. Objects and lists of objects have one line per member.
    func json(indent: String = "") -> String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .number(let number): String(number)
        case .list(let values): list(values, indent)
        case .object(let members):
            Self.lines(members.map { "\(Self.quoted($0)): \($1.json(indent: indent + "  "))" }, "{", "}", indent)
        }
    }

    private func list(_ values: [ManifestValue], _ indent: String) -> String {
        let isFlat = values.allSatisfy { if case .object = $0 { false } else { true } }
        if isFlat { return "[" + values.map { $0.json() }.joined(separator: ", ") + "]" }
        return Self.lines(values.map { $0.json(indent: indent + "  ") }, "[", "]", indent)
    }

    private static func lines(_ lines: [String], _ open: String, _ close: String, _ indent: String) -> String {
        if lines.isEmpty { return open + close }
        return open + "\n" + lines.map { indent + "  " + $0 }.joined(separator: ",\n") + "\n" + indent + close
    }

    /// Quotes a text. Names of vectors contain no control characters, so two escapes suffice.
    private static func quoted(_ text: String) -> String {
        "\"" + text.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" } + "\""
    }
}
