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
            protected when unlocked until sealctl vault lock or the end of the time that --for sets. The keys stay \
            in memory, in the kernel's user keyring or in a file of the user's runtime directory.

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
        let ends = lifetime.map { Timestamp(Timestamp.now.milliseconds + $0.seconds * 1000) }
        try StandardStreams.print(output.json ? json(group, isWhole, ends) : text(isWhole, ends))
    }

    private func text(_ isWhole: Bool, _ ends: Timestamp?) -> String {
        guard isWhole else {
            return "unlocked after first unlock only: what is protected when unlocked needs a person's slot"
        }
        return "unlocked until \(ends?.short ?? "it is locked or the machine restarts")"
    }

    private func json(_ group: AccessGroup, _ isWhole: Bool, _ ends: Timestamp?) -> String {
        JSONText.object([
            ("accessGroup", .string(group.identifier)), ("whenUnlocked", .bool(isWhole)),
            ("until", .optional(isWhole ? ends?.rfc3339 : nil)),
        ]).text
    }
}
