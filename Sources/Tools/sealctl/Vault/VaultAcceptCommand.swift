internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// `sealctl vault accept`: deliberately continues with an older copy.
struct VaultAcceptCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Accept a vault that was refused, or that is not verified yet.",
        discussion: """
            Programs refuse a vault that is older than the state that this user's programs have seen, because an \
            attacker could have put it there to restore a removed slot or key. After a deliberate restore this command \
            writes the vault again, with a number beyond every state that was seen. Later changes of the vault are \
            lost.

            A recipient's slot proves nothing about the creator of the vault, so the first opening with an identity \
            needs this command too. It shows the vault's id, fingerprint and slots, asks, and accepts exactly that \
            vault: compare the fingerprint with a person who shares the vault (sealctl vault status). --fingerprint \
            states the compared fingerprint and skips the question.

            The command also ends the warning that the watermarks of this user's programs were lost or damaged.

            Example:
              sealctl vault accept --group group.com.example.app --passphrase
            """)

    @OptionGroup var target: VaultTarget
    @Option(help: ArgumentHelp("Accept the vault only if it has this fingerprint.", valueName: "HEX"))
    var fingerprint: String?
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try target.checked()
        let home = try GroupOptions.home()
        let preview = try Failure.onVault { () throws(VaultError) in try Vault.preview(group, in: home) }
        if fingerprint == nil {
            try confirmation.require(
                "trust the vault \(preview.vaultID) of \(group) with the fingerprint \(preview.fingerprint)",
                ["Its slots are: \(preview.slots.map { SlotView($0).identification }.joined(separator: "; "))."])
        }
        let credential = try keyOptions.opening(group) ?? .automatic
        let vault = try Failure.onVault { () throws(VaultError) in
            try Vault.accept(group, in: home, with: credential, fingerprint: fingerprint ?? preview.fingerprint)
        }
        let fields: [(String, JSONText)] = [
            ("accessGroup", .string(group.identifier)), ("generation", .unsigned(vault.generation)),
            ("fingerprint", .string(preview.fingerprint)),
        ]
        try StandardStreams.print(
            output.json ? JSONText.object(fields).text : "accepted; it is now write \(vault.generation)")
    }
}

/// Warnings that protection against old blobs is off, which must not go unnoticed.
enum WatermarkWarning {
    /// Prints one line on standard error unless the accepted states are known and were stored.
    ///
    /// It is called when a command's work is done, with or without success, because only then is the result of storing
    /// the accepted states known.
    static func report(on store: SealedStore, asJSON: Bool) { report(store.watermarkCondition, asJSON: asJSON) }

    /// Prints the same for a vault that was opened without a store. An older copy of it may be accepted.
    static func report(on vault: Vault) {
        report(vault.watermarks.condition, asJSON: GlobalFlags.wantsJSON(ProgramArguments.all))
    }

    private static func report(_ condition: WatermarkCondition, asJSON: Bool) {
        guard let (code, message) = warning(condition) else { return }
        Warning(code, message, hint: hint(condition)).report(asJSON: asJSON)
    }

    /// Returns the fault and the advice, or `nil` without a fault.
    static func text(_ condition: WatermarkCondition) -> (message: String, hint: String)? {
        warning(condition).map { ($0.message, hint(condition)) }
    }

    private static func warning(_ condition: WatermarkCondition) -> (code: String, message: String)? {
        switch condition {
        case .firstContact, .intact: nil
        case .damaged(let entries):
            (
                "watermarksDamaged",
                "the watermarks were damaged: \(entries) entries are not authentic; an older blob may be accepted"
            )
        case .lost:
            (
                "watermarksLost",
                "the watermarks were lost; an older blob may have been accepted, or may be accepted"
            )
        case .unreadable(let reason):
            (
                "watermarksUnreadable",
                "the watermarks are unreadable: \(reason.clause); an older blob may be accepted"
            )
        case .notPersisted(let reason):
            (
                "watermarksNotPersisted",
                "the watermarks could not be stored: \(reason.clause); an older blob may be accepted later"
            )
        }
    }

    private static func hint(_ condition: WatermarkCondition) -> String {
        switch condition {
        case .lost, .damaged: "See sealctl audit; when the reason is known, sealctl vault accept ends this warning."
        default: "See sealctl audit."
        }
    }
}
