internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// `sealctl watch`: every change of records, as it comes.
struct WatchCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show changes of records as they come, with the reason of each refusal.",
        discussion: """
            A line for each record's present state comes first, then one for every change: time, event, sequence, name \
            and reason, with tabs between them. Of changes that come faster than they are shown the last one counts. \
            What is read is accepted, as by get. It goes on when the container is removed and made anew. \
            Ctrl-C or SIGTERM ends it with status 0.

            EVENT is present, written, resealed (the same value under another key), valid (again), deleted, absent, \
            locked, refused, or failed.

            Examples:
              sealctl watch
              sealctl watch accounts/ada --values
              sealctl watch widget_auth_state --changes-only --once --json
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: ArgumentHelp("The names of records; all of the group's unless stated.", valueName: "name"),
        completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var names: [String] = []
    @Flag(help: "End after the first change.")
    var once = false
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("End after N changes; present states do not count.", valueName: "N"), transform: Self.number)
    var count: Int?
    @Flag(help: "Do not show the present states.")
    var changesOnly = false
    @Flag(help: "Print the JSON of values as well.")
    var values = false
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    private static func number(_ argument: String) throws -> Int {
        guard let number = Int(argument), number > 0 else { throw ValidationError("N is a whole number, 1 or more.") }
        return number
    }

    func validate() throws {
        guard !once || count == nil else { throw ValidationError("--once and --count exclude each other.") }
    }

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let view = LiveView(
            store: store, names: names.isEmpty ? nil : names, limit: once ? 1 : count, changesOnly: changesOnly,
            showsValues: values, isJSON: output.json)
        try UntilSignal.run { () async throws(Failure) in try await view.show() }
    }
}

/// What has happened to a record, in a word.
enum WatchEvent: String, Sendable {
    /// A value that was there when the watching began.
    case present
    /// A new value.
    case written
    /// The same value, under another key.
    case resealed
    /// The value that was there before, which was something else in between: expired, locked, replaced by a refused blob.
    case valid
    case deleted
    case absent
    case locked
    case refused
    /// It could not be read, for a reason that says nothing about it.
    case failed
}

/// Tells what a change is, from what was shown of the record before.
struct WatchEvents {
    private var values: [String: Provenance] = [:]

    mutating func event(for change: RecordChange) -> WatchEvent {
        switch change.outcome {
        case .value(let provenance):
            defer { values[change.name] = provenance }
            return change.isInitial ? .present : Self.event(provenance, after: values[change.name])
        case .deleted(let provenance):
            values[change.name] = provenance
            return .deleted
        case .absent: return .absent
        case .rejected(let error):
            if error.code == .locked { return .locked }
            return error.isRejection || error.code == .invalidName ? .refused : .failed
        }
    }

    private static func event(_ new: Provenance, after old: Provenance?) -> WatchEvent {
        guard let old else { return .written }
        if old.sequence == new.sequence && old.epoch == new.epoch { return .valid }
        // A rotation keeps the time at which a value was sealed, to the millisecond.
        return new.epoch > old.epoch && old.sealedAt == new.sealedAt ? .resealed : .written
    }
}

/// Prints changes as they come.
struct LiveView: Sendable {
    let store: SealedStore
    /// Nil for all records.
    let names: [String]?
    /// After how many changes it ends; nil for never.
    let limit: Int?
    let changesOnly: Bool
    let showsValues: Bool
    let isJSON: Bool

    /// Ends with its task.
    func show() async throws(Failure) {
        let changes = try Failure.onStore { () throws(StoreError) in try store.changes(of: names) }
        var events = WatchEvents()
        var count = 0
        for await change in changes {
            let event = events.event(for: change)
            if change.isInitial && changesOnly { continue }
            guard let line = line(WatchLine(change: change, event: event)) else { continue }
            try StandardStreams.print(line)
            if !change.isInitial { count += 1 }
            if let limit, count >= limit { return }
        }
    }

    /// Nil where the value was replaced since: the change that follows shows the new one.
    private func line(_ line: WatchLine) -> String? {
        guard showsValues, case .value(let provenance) = line.change.outcome else { return text(of: line) }
        guard let opened = try? store.following().openPayload(named: line.change.name),
            opened.header.header.sequence == provenance.sequence
        else { return nil }
        var line = line
        line.value = Self.json(of: opened, store.options)
        return text(of: line)
    }

    private func text(of line: WatchLine) -> String { isJSON ? line.json(withValue: showsValues).text : line.text }

    /// One line; nil for what is no JSON.
    private static func json(of opened: borrowing BlobOpener.Opened, _ options: StoreOptions) -> String? {
        guard opened.header.header.codec == .json else { return nil }
        return opened.plaintext.withUnsafeBytes { bytes in
            (try? JSONChecker.check(bytes, maximumDepth: options.maximumDepth)) == nil ? nil : JSONLayout.compact(bytes)
        }
    }
}

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
