/// Findings in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS), which code hosts show beside the lines.
struct SARIFReport {
    /// Every rule that a result may name, in a fixed order.
    let rules: [SARIFRule]
    let results: [SARIFResult]
    /// What a reader has to know of the run itself, such as what was not looked at.
    let notes: [String]
    /// The directory that the results' paths are below, absolute.
    let root: String

    private static let schema = "https://json.schemastore.org/sarif-2.1.0.json"
    /// Hosts that show results put the root of the checked-out source in its place.
    static let rootName = "%SRCROOT%"

    var json: JSONText {
        .object([
            ("$schema", .string(Self.schema)), ("version", .string("2.1.0")), ("runs", .array([run])),
        ])
    }

    private var run: JSONText {
        .object([
            ("tool", .object([("driver", driver)])),
            ("columnKind", .string("unicodeCodePoints")),
            ("originalUriBaseIds", .object([(Self.rootName, .object([("uri", .string(rootURI))]))])),
            ("invocations", .array([invocation])),
            ("results", .array(results.map { $0.json(rules) })),
        ])
    }

    private var invocation: JSONText {
        let notifications = notes.map { note in
            JSONText.object([("level", .string(SARIFLevel.note.rawValue)), ("message", Self.message(note))])
        }
        return .object([
            ("executionSuccessful", .bool(true)), ("toolExecutionNotifications", .array(notifications)),
        ])
    }

    private var driver: JSONText {
        .object([
            ("name", .string("sealctl")), ("version", .string(SealedStateVersion.current)),
            ("rules", .array(rules.map(\.json))),
        ])
    }

    /// The uri of a base has to end with a slash.
    private var rootURI: String { "file://" + SARIFPath.encoded(root) + (root.hasSuffix("/") ? "" : "/") }
}

/// A kind of finding.
struct SARIFRule {
    /// Stable: hosts follow a finding by it from one run to the next.
    let id: String
    /// Words joined by hyphens.
    let name: String
    let level: SARIFLevel
    let title: String
    let meaning: String
    let remedy: String

    fileprivate var json: JSONText {
        .object([
            ("id", .string(id)), ("name", .string(pascalCase)),
            ("shortDescription", SARIFReport.message(title + ".")),
            ("fullDescription", SARIFReport.message(meaning)),
            ("help", SARIFReport.message(remedy)),
            ("defaultConfiguration", .object([("level", .string(level.rawValue))])),
        ])
    }

    /// The form that the standard recommends for names of rules.
    private var pascalCase: String {
        name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

/// How much a result matters.
enum SARIFLevel: String { case note, warning, error }

/// One finding at one place.
struct SARIFResult {
    /// The id of one of the report's rules.
    let rule: String
    let level: SARIFLevel
    let message: String
    /// Below the report's root, or absolute.
    let path: String
    /// Counted from 1; nil where no single line is meant.
    let line: Int?
    /// What stays the same when lines move: a host takes results with the same one for the same.
    let fingerprint: String

    fileprivate func json(_ rules: [SARIFRule]) -> JSONText {
        var fields: [(String, JSONText)] = [("ruleId", .string(rule))]
        if let index = rules.firstIndex(where: { $0.id == rule }) { fields.append(("ruleIndex", .number(index))) }
        fields += [
            ("level", .string(level.rawValue)), ("message", SARIFReport.message(message)),
            ("locations", .array([.object([("physicalLocation", location)])])),
            ("partialFingerprints", .object([("sealctl/v1", .string(fingerprint))])),
        ]
        return .object(fields)
    }

    private var location: JSONText {
        var fields: [(String, JSONText)] = [("artifactLocation", artifact)]
        if let line { fields.append(("region", .object([("startLine", .number(line))]))) }
        return .object(fields)
    }

    private var artifact: JSONText {
        guard !path.hasPrefix("/") else {
            return .object([("uri", .string("file://" + SARIFPath.encoded(path)))])
        }
        return .object([
            ("uri", .string(SARIFPath.encoded(path))), ("uriBaseId", .string(SARIFReport.rootName)),
        ])
    }
}

extension SARIFReport {
    fileprivate static func message(_ text: String) -> JSONText { .object([("text", .string(text))]) }
}

/// Paths as parts of a URI.
enum SARIFPath {
    /// Everything but the unreserved characters of RFC 3986 and `/` is escaped.
    static func encoded(_ path: String) -> String {
        path.utf8.reduce(into: "") { text, byte in
            let scalar = Unicode.Scalar(byte)
            if isPlain(byte) {
                text.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~/".utf8.contains(byte)
        }
    }
}
