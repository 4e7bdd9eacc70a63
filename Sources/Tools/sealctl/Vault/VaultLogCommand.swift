internal import ArgumentParser
internal import AuditReports
internal import KeyVault

/// `sealctl vault log`: lists the accesses to the vault.
struct VaultLogCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show a vault's access log, and whether it is intact.",
        discussion: """
            Shows openings, unlocks, item reads and changes, oldest first: time, event, result and process. A keyed \
            hash represents an item, the same hash for the same item. A change is logged as intended before it is \
            made. The command verifies the chain each time, against the state that the vault recorded at its last \
            change; a changed log ends with status 65. Entries after that state can be removed without detection, and \
            a program with the vault's keys can write any entry: the log detects mistakes, not attacks by members. \
            Writes of the vault without an entry are counted as unlogged.

            Examples:
              sealctl vault log --since 1d
              sealctl vault log --verify
              sealctl vault log -s mail.example.com -a ada
              sealctl vault log --by /usr/bin/widget --slot 2
              sealctl vault log --json | jq '.entries[] | .event'
            """)

    @OptionGroup var target: VaultTarget
    @Flag(help: "Check the log, and do not show its entries.")
    var verify = false
    @Option(
        help: ArgumentHelp(
            "Show entries since a time: 15m, 1h, 2d ago, 2026-11-21, or 2026-11-21T03:30:00Z.", valueName: "TIME"),
        transform: PastTime.init(parsing:))
    var since: PastTime?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Show entries of this item; with --account.", valueName: "SERVICE"))
    var service: String?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Show entries of this item; with --service.", valueName: "ACCOUNT"))
    var account: String?
    @Option(help: ArgumentHelp("Show entries of this key slot.", valueName: "ID"))
    var slot: UInt32?
    @Option(
        help: ArgumentHelp("Show entries of this uid, or of programs whose path ends with this text.", valueName: "WHO")
    )
    var by: String?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard (service == nil) == (account == nil) else {
            throw ValidationError("Give --service and --account together: both name an item.")
        }
    }

    private func isWanted(_ entry: AccessEntry, _ subjects: Set<AccessSubject>?) -> Bool {
        if let subjects, entry.subject.map({ subjects.contains($0) }) != true { return false }
        guard let by else { return true }
        return UInt32(by).map { $0 == entry.uid } ?? entry.executable.hasSuffix(by)
    }

    private func subjects(in vault: Vault) throws(Failure) -> Set<AccessSubject>? {
        try Failure.onVault { () throws(VaultError) in
            if let service, let account { return try vault.accessSubjects(service: service, account: account) }
            if let slot { return try vault.accessSubjects(slot: slot) }
            return nil
        }
    }

    func perform() throws(Failure) {
        let vault = try keyOptions.openVault(of: try target.checked())
        let subjects = try subjects(in: vault)
        var entries: [LogEntryView] = []
        let found = try Failure.onVault { () throws(VaultError) in
            try vault.readAccessLog { entry, isAuthentic in
                guard !verify, entry.milliseconds >= since?.timestamp.milliseconds ?? 0 else { return }
                guard isWanted(entry, subjects) else { return }
                entries.append(LogEntryView(entry: entry, isAuthentic: isAuthentic))
            }
        }
        let check = LogCheckView(found)
        try StandardStreams.print(output.json ? json(entries, check) : text(entries, check))
        if found.isOnlyUnsupported {
            throw Failure(
                .newerVersion, "unsupported",
                "the access log of \(vault.accessGroup) has \(found.unsupportedCount) entries of another version",
                hint: "Update sealctl.")
        }
        guard found.isIntact else {
            throw Failure(
                .dataError, "logAltered", "the access log of \(vault.accessGroup) was changed after it was written",
                hint:
                    "Find the users who can write to the directory of \(vault.path), and compare it with a backup."
            )
        }
    }

    private func json(_ entries: [LogEntryView], _ check: LogCheckView) -> String {
        let shown: [(String, JSONText)] = verify ? [] : [("entries", .array(entries.map(\.json)))]
        return JSONText.object(shown + [("check", check.json)]).text
    }

    private func text(_ entries: [LogEntryView], _ check: LogCheckView) -> String {
        guard !verify else { return check.text }
        var table = TextTable(LogEntryView.columns)
        for entry in entries { table.add(entry.cells) }
        return table.text
    }
}

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

/// The result of the check of the whole log, for people and programs.
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
        case .rolledAway: ("rolledAway", "older than the kept entries", 0)
        case .cutShort(let missing): ("cutShort", "cut off: \(missing) entries at least are missing", missing)
        case .differs: ("differs", "another entry is in its place", 0)
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
