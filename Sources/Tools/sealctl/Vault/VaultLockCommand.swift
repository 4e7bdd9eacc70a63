internal import AppGroups
internal import ArgumentParser
internal import KeyVault

/// `sealctl vault lock`: for all programs of this user.
struct VaultLockCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Lock a vault for all of this user's programs.",
        discussion: """
            What is protected when unlocked is refused from each program's next use on, also in programs that have \
            the vault open. What is protected after first unlock stays available unless --everything is given: then \
            programs that are started from now on need a credential. In a vault without slots of unattended programs a \
            lock closes both classes. No credential is needed to lock.

            Examples:
              sealctl vault lock
              sealctl vault lock --everything
            """)

    @OptionGroup var target: VaultTarget
    @Flag(help: "Take back what is protected after first unlock as well.")
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
            return "locked what is protected when unlocked; what is protected after first unlock stays open"
        }
        return report.hasUnattendedSlots
            ? "locked; programs with a key file, credential or unattended identity still open after first unlock"
            : "locked: both classes"
    }
}
