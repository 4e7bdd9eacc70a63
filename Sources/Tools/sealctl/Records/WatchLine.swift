internal import SealedState
internal import SharedFiles

/// One line of what is watched.
struct WatchLine {
    let change: RecordChange
    let event: WatchEvent
    let time = Timestamp.now
    /// The contents as one line of JSON; nil where they are not shown or are none.
    var value: String?

    /// Time, event, sequence, name and reason, with tabs between them: the order that leaves columns in line where tabs
    /// are eight characters wide.
    var text: String {
        let sequence = change.provenance.map { String($0.sequence) } ?? "-"
        let fields = [time.rfc3339, event.rawValue, sequence, change.name.printable]
        return (fields + [reason.map { $0.printable } ?? value].compactMap(\.self)).joined(separator: "\t")
    }

    /// What stands behind a plain event: the code, which programs know, and what was found.
    private var reason: String? {
        guard let error = change.error else { return nil }
        return "\(error.code.rawValue): \(error.reason)"
    }

    func json(withValue: Bool) -> JSONText {
        let provenance = change.provenance
        let fields: [(String, JSONText)] = [
            ("time", .string(time.rfc3339)), ("name", .string(change.name)), ("event", .string(event.rawValue)),
            ("initial", .bool(change.isInitial)),
            ("sequence", provenance.map { .unsigned($0.sequence) } ?? .null),
            ("epoch", provenance.map { .unsigned(UInt64($0.epoch)) } ?? .null),
            ("schemaVersion", provenance.map { .number($0.schemaVersion) } ?? .null),
            ("sealedAt", .optional(provenance.map { Timestamp($0.sealedAt).rfc3339 })),
            ("notAfter", .optional(provenance?.notAfter.map { Timestamp($0).rfc3339 })),
            ("code", .optional(change.error?.code.rawValue)), ("reason", .optional(change.error?.reason)),
        ]
        let shown = value.map { JSONText.verbatim($0) } ?? .null
        return .object(withValue ? fields + [("value", shown)] : fields)
    }
}
