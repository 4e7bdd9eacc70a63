internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// `sealctl watch`: prints every change of records as it happens.
struct WatchCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show changes of records as they occur, with the reason of each refusal.",
        discussion: """
            Prints a line for each record's present state, then one for every change: time, event, sequence, name and \
            reason, separated by tabs. If changes are faster than the output, only the last one is shown. Reading \
            updates the watermarks, as get does. The command continues when the container is removed and created \
            again. Ctrl-C or SIGTERM ends it with status 0.

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

/// The kind of a change of a record, in a word.
enum WatchEvent: String, Sendable {
    /// A value that existed when the watch began.
    case present
    /// A new value.
    case written
    /// The same value, under another key.
    case resealed
    /// The value before an interruption by another state: expired, locked, or replaced by a refused blob.
    case valid
    case deleted
    case absent
    case locked
    case refused
    /// A failed read, for a reason that is independent of the record.
    case failed
}

/// The events of changes, derived from the previous states of the records.
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

/// A view that prints changes as they happen.
struct LiveView: Sendable {
    let store: SealedStore
    /// The names; `nil` for all records.
    let names: [String]?
    /// The number of changes after which the view ends; `nil` for no limit.
    let limit: Int?
    let changesOnly: Bool
    let showsValues: Bool
    let isJSON: Bool

    /// Shows changes until its task is cancelled.
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

    /// Returns `nil` if the value was replaced by now, because the next change shows the new one.
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

    /// Returns the contents in one line, or `nil` if they are not JSON.
    private static func json(of opened: borrowing BlobOpener.Opened, _ options: StoreOptions) -> String? {
        guard opened.header.header.codec == .json else { return nil }
        return opened.plaintext.withUnsafeBytes { bytes in
            (try? JSONChecker.check(bytes, maximumDepth: options.maximumDepth)) == nil ? nil : JSONLayout.compact(bytes)
        }
    }
}

/// A line of a watch.
struct WatchLine {
    let change: RecordChange
    let event: WatchEvent
    let time = Timestamp.now
    /// The contents as one line of JSON; `nil` if they are not shown or not JSON.
    var value: String?

    /// Time, event, sequence, name and reason, separated by tabs. In this order the columns align if tabs are eight
    /// characters wide.
    var text: String {
        let sequence = change.provenance.map { String($0.sequence) } ?? "-"
        let fields = [time.rfc3339, event.rawValue, sequence, change.name.printable]
        return (fields + [reason.map { $0.printable } ?? value].compactMap(\.self)).joined(separator: "\t")
    }

    /// The explanation after an event: the code, which programs know, and the reason.
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
