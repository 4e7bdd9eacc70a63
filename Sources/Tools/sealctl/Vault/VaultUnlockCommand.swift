internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault

/// `sealctl vault unlock`: unlocks a vault for all programs of this user.
struct VaultUnlockCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock a vault for all of this user's programs.",
        discussion: """
            The command asks for the passphrase on the terminal unless another credential is stated. Programs then \
            open the vault without a question: the class "after first unlock" until the machine restarts, the class \
            "when unlocked" until sealctl vault lock or until the time of --for has passed. The command prints which \
            classes are open, and until when. The keys stay in memory, in the kernel's user keyring or in a file of \
            the user's runtime directory.

            Examples:
              sealctl vault unlock
              sealctl vault unlock --for 15m
              pass show vault | sealctl vault unlock --passphrase-file -
            """)

    @OptionGroup var target: VaultTarget
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Lock it again after TIME: 90s, 15m, 1h, 2d, sleep included.", valueName: "TIME"),
        transform: Lifetime.init(parsing:))
    var lifetime: Lifetime?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try target.checked()
        let vault = try keyOptions.openVault(of: group, asksUnasked: true)
        let isWhole = try Failure.onVault { () throws(VaultError) in
            try vault.unlock(for: lifetime.map { .seconds(Int64(clamping: $0.seconds)) })
        }
        let home = try GroupOptions.home()
        let status = try Failure.onVault { () throws(VaultError) in try Vault.status(group, in: home) }
        let failure = vault.serviceFailure
        if let cause = failure.map({ Failure($0) }) {
            Warning(
                "afterFirstUnlock", "the class \"after first unlock\" stays closed: \(cause.message)",
                hint: cause.hint
            ).report(asJSON: output.json)
        }
        let view = UnlockView(status, isServiceOpen: failure == nil)
        let fields = [("accessGroup", JSONText.string(group.identifier))] + view.fields
        try StandardStreams.print(output.json ? JSONText.object(fields).text : text(view, isWhole))
    }

    private func text(_ view: UnlockView, _ isWhole: Bool) -> String {
        /// - Parameter end: The end of an unlock without a time limit.
        func words(_ state: UnlockState, _ end: String) -> String {
            state == .unlocked(for: nil) ? "unlocked until \(end)" : view.words(state)
        }
        let person = words(view.whenUnlocked, "it is locked or the machine restarts")
        return FieldList([
            ("after first unlock", words(view.afterFirstUnlock, "the machine restarts")),
            ("when unlocked", isWhole ? person : "\(person): this needs a person's slot"),
        ]).text
    }
}

/// The classes that the user's unlock makes available, in the same form in every command.
struct UnlockView {
    let afterFirstUnlock: UnlockState
    let whenUnlocked: UnlockState
    private let isReady: Bool
    private let now: Timestamp

    /// - Parameter isServiceOpen: True if the service compartment opens, as far as is known.
    init(_ status: VaultStatus, isServiceOpen: Bool = true, at now: Timestamp = .now) {
        afterFirstUnlock = isServiceOpen ? status.afterFirstUnlock : .locked
        whenUnlocked = status.whenUnlocked
        isReady = isServiceOpen && status.availability == .ready
        self.now = now
    }

    var fields: [(String, JSONText)] {
        [
            ("afterFirstUnlock", json(afterFirstUnlock)), ("whenUnlocked", json(whenUnlocked)),
            ("isAfterFirstUnlockOpen", .bool(afterFirstUnlock.isUnlocked || isReady)),
        ]
    }

    func words(_ state: UnlockState) -> String {
        switch state {
        case .locked: "locked"
        case .unlocked(let left): left.map { "unlocked until \(end($0).short)" } ?? "unlocked"
        }
    }

    private func end(_ left: Duration) -> Timestamp { Timestamp(now.milliseconds + UInt64(left / .milliseconds(1))) }

    private func json(_ state: UnlockState) -> JSONText {
        switch state {
        case .locked: .object([("unlocked", .bool(false)), ("until", .null)])
        case .unlocked(let left):
            .object([("unlocked", .bool(true)), ("until", .optional(left.map { end($0).rfc3339 }))])
        }
    }
}

/// `sealctl vault lock`: locks a vault for all programs of this user.
struct VaultLockCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock a vault for all of this user's programs.",
        discussion: """
            From their next use on, all programs are refused the class "when unlocked", even those that have the vault \
            open. The class "after first unlock" remains available unless --everything is given; programs that are \
            started later then need a credential. In a vault without slots of unattended programs a lock closes both \
            classes. The command needs no credential.

            Examples:
              sealctl vault lock
              sealctl vault lock --everything
            """)

    @OptionGroup var target: VaultTarget
    @Flag(help: "Lock the class \"after first unlock\" as well.")
    var everything = false
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try target.checked()
        let home = try GroupOptions.home()
        let report = try Failure.onVault { () throws(VaultError) in
            try Vault.lock(group, in: home, everything: everything)
        }
        let isAll = report.locked.contains(.afterFirstUnlock)
        guard output.json else { return try StandardStreams.print(words(report, isAll)) }
        let status = try Failure.onVault { () throws(VaultError) in try Vault.status(group, in: home) }
        let head: [(String, JSONText)] = [
            ("accessGroup", .string(group.identifier)), ("everything", .bool(isAll)),
        ]
        let tail: [(String, JSONText)] = [("hasUnattendedSlots", .bool(report.hasUnattendedSlots))]
        try StandardStreams.print(JSONText.object(head + UnlockView(status).fields + tail).text)
    }

    private func words(_ report: LockReport, _ isAll: Bool) -> String {
        guard isAll else {
            return "locked the class \"when unlocked\"; the class \"after first unlock\" stays open"
        }
        return report.hasUnattendedSlots
            ? "locked; key files, credentials and unattended identities still open the class \"after first unlock\""
            : "locked: both classes"
    }
}
