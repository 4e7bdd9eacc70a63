internal import KeyVault

/// An entry of the access log for people and programs.
struct LogEntryView {
    let entry: AccessEntry
    let isAuthentic: Bool

    static let columns: [TextTable.Column] = [
        .init(title: "TIME"), .init(title: "EVENT"), .init(title: "OUTCOME"), .init(title: "UID", isNumber: true),
        .init(title: "PID", isNumber: true), .init(title: "WRITE", isNumber: true), .init(title: "ABOUT"),
        .init(title: "PROGRAM"),
    ]

    var cells: [String] {
        let mark = isAuthentic ? "" : " (NOT AUTHENTIC)"
        return [
            Timestamp(entry.milliseconds).short, entry.event.name, entry.outcome.name + mark, String(entry.uid),
            String(entry.pid), String(entry.generation), entry.subject.map { String($0.description.prefix(8)) } ?? "-",
            program,
        ]
    }

    private var program: String {
        entry.executable.isEmpty ? "-" : (entry.isExecutableCut ? "..." : "") + entry.executable
    }

    var json: JSONText {
        .object([
            ("index", .unsigned(entry.index)), ("time", .string(Timestamp(entry.milliseconds).rfc3339)),
            ("event", .string(entry.event.name)), ("outcome", .string(entry.outcome.name)),
            ("uid", .unsigned(UInt64(entry.uid))), ("pid", .number(Int(entry.pid))),
            ("generation", .unsigned(entry.generation)), ("subject", .optional(entry.subject?.description)),
            ("executable", .string(entry.executable)), ("executableCut", .bool(entry.isExecutableCut)),
            ("authentic", .bool(isAuthentic)), ("keyed", .bool(!entry.isUnkeyed)),
        ])
    }
}

/// What the check of the whole log found, for people and programs.
struct LogCheckView {
    private let found: AccessLogVerification

    init(_ found: AccessLogVerification) { self.found = found }

    var text: String {
        var fields = FieldList([
            ("log", found.isIntact ? "intact" : found.isOnlyUnsupported ? "of a newer version" : "ALTERED"),
            ("entries", found.firstIndex > 0 ? "\(found.count), from number \(found.firstIndex) on" : "\(found.count)"),
            ("noted head", notedHead.text),
        ])
        if found.badCount > 0 {
            let numbers = found.badIndexes.prefix(10).map { String($0) }.joined(separator: ", ")
            fields.add("not authentic", "\(found.badCount), at \(numbers)\(found.badCount > 10 ? ", ..." : "")")
        }
        if found.unsupportedCount > 0 { fields.add("of them unknown", "\(found.unsupportedCount) of another version") }
        if found.isOlderFileMissing { fields.add("older file", "missing") }
        if found.tornCount > 0 || found.endsTorn {
            fields.add("torn by crashes", String(found.tornCount + (found.endsTorn ? 1 : 0)))
        }
        if found.unloggedCount > 0 {
            fields.add("unlogged", "\(found.unloggedCount) writes of the vault have no entry")
        }
        if found.uncoveredCount > 0 {
            fields.add("not yet covered", "\(found.uncoveredCount) at the end, entered without a key")
        }
        return fields.text
    }

    private var notedHead: (code: String, text: String, missing: UInt64) {
        switch found.notedHead {
        case .none: ("none", "none", 0)
        case .found: ("found", "found", 0)
        case .rolledAway: ("rolledAway", "older than what is kept", 0)
        case .cutShort(let missing): ("cutShort", "cut off: \(missing) entries at least are missing", missing)
        case .differs: ("differs", "another entry stands in its place", 0)
        }
    }

    var json: JSONText {
        .object([
            ("intact", .bool(found.isIntact)), ("count", .number(found.count)),
            ("firstIndex", .unsigned(found.firstIndex)), ("bad", .number(found.badCount)),
            ("badIndexes", .array(found.badIndexes.map { .unsigned($0) })), ("torn", .number(found.tornCount)),
            ("unsupported", .number(found.unsupportedCount)),
            ("endsTorn", .bool(found.endsTorn)), ("uncovered", .number(found.uncoveredCount)),
            ("unlogged", .unsigned(found.unloggedCount)),
            ("olderFileMissing", .bool(found.isOlderFileMissing)), ("notedHead", .string(notedHead.code)),
            ("missing", .unsigned(notedHead.missing)),
        ])
    }
}
