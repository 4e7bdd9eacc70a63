internal import AppGroups
internal import ArgumentParser
internal import KeyVault

/// `sealctl vault unlock`: for all programs of this user.
struct VaultUnlockCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Unlock a vault for all of this user's programs.",
        discussion: """
            The passphrase is asked for on the terminal unless something else is stated. From then on programs open \
            the vault without asking: what is protected after first unlock until the machine restarts, what is \
            protected when unlocked until sealctl vault lock or the end of the time that --for sets. Printed is which \
            of both is open, and until when. The keys stay in memory, in the kernel's user keyring or in a file of the \
            user's runtime directory.

            Examples:
              sealctl vault unlock
              sealctl vault unlock --for 15m
              pass show vault | sealctl vault unlock --passphrase-file -
            """)

    @OptionGroup var target: VaultTarget
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Lock it again after TIME: 90s, 15m, 1h, 2d, sleep included.", valueName: "TIME"))
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
                "afterFirstUnlock", "what is protected after first unlock stays closed: \(cause.message)",
                hint: cause.hint
            ).report(asJSON: output.json)
        }
        let view = UnlockView(status, isServiceOpen: failure == nil)
        let fields = [("accessGroup", JSONText.string(group.identifier))] + view.fields
        try StandardStreams.print(output.json ? JSONText.object(fields).text : text(view, isWhole))
    }

    private func text(_ view: UnlockView, _ isWhole: Bool) -> String {
        /// - Parameter end: When it ends without a time limit.
        func words(_ state: UnlockState, _ end: String) -> String {
            state == .unlocked(for: nil) ? "unlocked until \(end)" : view.words(state)
        }
        let person = words(view.whenUnlocked, "it is locked or the machine restarts")
        return FieldList([
            ("after first unlock", words(view.afterFirstUnlock, "the machine restarts")),
            ("when unlocked", isWhole ? person : "\(person): this takes a person's slot"),
        ]).text
    }
}
