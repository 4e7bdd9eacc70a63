/// A kind of finding.
struct SARIFRule {
    /// What GitHub takes of each: the rest of a longer text is cut off.
    private static let descriptionLimit = 1024

    /// Stable: hosts follow a finding by it from one run to the next.
    let id: String
    /// Words joined by hyphens or dots.
    let name: String
    let level: SARIFLevel
    let title: String
    let meaning: String
    let remedy: String
    /// Above 0 up to 10; hosts sort by it. Nil for a rule that is not about security, or merely good to know.
    var securitySeverity: Double?
    /// What hosts filter by; the first ten are shown.
    var tags: [String] = []
    /// Where to read on, absolute.
    var helpURI: String?

    var json: JSONText {
        var fields: [(String, JSONText)] = [
            ("id", .string(id)), ("name", .string(pascalCase)),
            ("shortDescription", Self.description(title + ".")), ("fullDescription", Self.description(meaning)),
            ("help", help), ("defaultConfiguration", .object([("level", .string(level.rawValue))])),
        ]
        if let helpURI { fields.append(("helpUri", .string(helpURI))) }
        let properties = properties
        if !properties.isEmpty { fields.append(("properties", .object(properties))) }
        return .object(fields)
    }

    private static func description(_ text: String) -> JSONText {
        SARIFReport.message(String(text.prefix(descriptionLimit)))
    }

    private var help: JSONText {
        guard securitySeverity != nil || !tags.isEmpty else { return SARIFReport.message(remedy) }
        return .object([("text", .string(remedy)), ("markdown", .string("\(meaning)\n\n**What to do:** \(remedy)"))])
    }

    private var properties: [(String, JSONText)] {
        var fields: [(String, JSONText)] = []
        if !tags.isEmpty { fields.append(("tags", .array(tags.prefix(10).map { .string($0) }))) }
        if let securitySeverity, securitySeverity > 0 {
            fields.append(("security-severity", .string(String(securitySeverity))))
        }
        return fields
    }

    /// The form that the standard recommends for names of rules.
    private var pascalCase: String {
        name.split { "-.".contains($0) }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
