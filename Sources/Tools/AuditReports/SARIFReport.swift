/// Findings in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS), which code hosts show beside the
/// lines.
package struct SARIFReport {
    /// Every rule that a result may name, in a fixed order.
    let rules: [SARIFRule]
    let results: [SARIFResult]
    /// The notes about the run itself, such as files that were not examined.
    let notes: [String]
    /// The absolute path of the directory that the results' paths are relative to.
    let root: String
    /// The start and the end of the run, as RFC 3339 has it; `nil` if unknown.
    var times: (began: String, ended: String)?
    /// The category of the run, which ends with a slash. Without it hosts take runs on different subjects for newer
    /// runs on the same one.
    var category: String?

    private static let schema = "https://json.schemastore.org/sarif-2.1.0.json"
    /// The name of the base. Hosts that show results replace it by the root of the checked-out source.
    static let rootName = "%SRCROOT%"

    package init(
        rules: [SARIFRule], results: [SARIFResult], notes: [String], root: String,
        times: (began: String, ended: String)? = nil, category: String? = nil
    ) {
        self.rules = rules
        self.results = results
        self.notes = notes
        self.root = root
        self.times = times
        self.category = category
    }

    func write(to sink: any ReportSink) {
        let indices = Dictionary(rules.enumerated().map { ($1.id, $0) }) { first, _ in first }
        sink.write(#"{"$schema":"\#(Self.schema)","version":"2.1.0","runs":[{"tool":{"driver":"#)
        sink.write(driver.text + "}," + members(head) + #","results":["#)
        for (number, result) in results.enumerated() {
            sink.write((number == 0 ? "" : ",") + result.json(ruleIndex: indices[result.rule]).text)
        }
        sink.writeLine("]}]}")
    }

    /// The whole report, for small ones.
    package var text: String {
        let sink = ReportText()
        write(to: sink)
        return sink.text
    }

    private func members(_ fields: [(String, JSONText)]) -> String {
        String(JSONText.object(fields).text.dropFirst().dropLast())
    }

    private var head: [(String, JSONText)] {
        var fields: [(String, JSONText)] = [
            ("columnKind", .string("unicodeCodePoints")),
            ("originalUriBaseIds", .object([(Self.rootName, .object([("uri", .string(rootURI))]))])),
            ("invocations", .array([invocation])),
        ]
        if let category { fields.append(("automationDetails", .object([("id", .string(category))]))) }
        return fields
    }

    private var invocation: JSONText {
        let notifications = notes.map { note in
            JSONText.object([("level", .string(SARIFLevel.note.rawValue)), ("message", Self.message(note))])
        }
        let times = times.map { [("startTimeUtc", JSONText.string($0.began)), ("endTimeUtc", .string($0.ended))] }
        return .object(
            [("executionSuccessful", .bool(true))] + (times ?? [])
                + [("toolExecutionNotifications", .array(notifications))])
    }

    private var driver: JSONText {
        .object([
            ("name", .string("sealctl")), ("version", .string(SealedStateVersion.current)),
            ("rules", .array(rules.map(\.json))),
        ])
    }

    /// The URI of the root. The URI of a base must end with a slash.
    private var rootURI: String { "file://" + SARIFPath.encoded(root) + (root.hasSuffix("/") ? "" : "/") }

    /// Returns a message. Hosts require its text not to be empty.
    static func message(_ text: String) -> JSONText { .object([("text", .string(text.isEmpty ? "-" : text))]) }
}

/// The importance of a result.
package enum SARIFLevel: String { case note, warning, error }

/// A kind of finding.
package struct SARIFRule {
    /// The length that GitHub reads of each description: the rest is cut off.
    private static let descriptionLimit = 1024

    /// The stable identifier, by which hosts follow a finding from one run to the next.
    let id: String
    /// The name: words joined by hyphens or dots.
    let name: String
    let level: SARIFLevel
    let title: String
    let meaning: String
    let remedy: String
    /// The severity, above 0 up to 10, by which hosts sort. It is `nil` for a rule that is only informational or not
    /// about security.
    var securitySeverity: Double?
    /// The tags that hosts filter by; hosts show the first ten.
    var tags: [String] = []
    /// The absolute URI of further information.
    var helpURI: String?

    package init(
        id: String, name: String, level: SARIFLevel, title: String, meaning: String, remedy: String,
        securitySeverity: Double? = nil, tags: [String] = [], helpURI: String? = nil
    ) {
        self.id = id
        self.name = name
        self.level = level
        self.title = title
        self.meaning = meaning
        self.remedy = remedy
        self.securitySeverity = securitySeverity
        self.tags = tags
        self.helpURI = helpURI
    }

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
        return .object([("text", .string(remedy)), ("markdown", .string("\(meaning)\n\n**Remedy:** \(remedy)"))])
    }

    private var properties: [(String, JSONText)] {
        var fields: [(String, JSONText)] = []
        if !tags.isEmpty { fields.append(("tags", .array(tags.prefix(10).map { .string($0) }))) }
        if let securitySeverity, securitySeverity > 0 {
            fields.append(("security-severity", .string(String(securitySeverity))))
        }
        return fields
    }

    /// The name in the form that the standard recommends for rules.
    private var pascalCase: String {
        name.split { "-.".contains($0) }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
