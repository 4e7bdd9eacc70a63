internal import KeyVault
internal import SealedState
internal import SharedFiles

/// Tells when protection against old blobs is off: it must not go off silently.
enum WatermarkWarning {
    /// Prints one line on standard error unless what was accepted before is known and was kept.
    ///
    /// Called when a command's work is done, whether it succeeded or not: only then is it known whether what it accepted
    /// could be remembered.
    static func report(on store: SealedStore, asJSON: Bool) { report(store.watermarkCondition, asJSON: asJSON) }

    /// The same for a vault that was opened without a store, an older copy of which may pass.
    static func report(on vault: Vault) {
        report(vault.watermarks.condition, asJSON: GlobalFlags.wantsJSON(ProgramArguments.all))
    }

    private static func report(_ condition: WatermarkCondition, asJSON: Bool) {
        guard let (code, message) = warning(condition) else { return }
        Warning(code, message, hint: hint(condition)).report(asJSON: asJSON)
    }

    /// What is wrong, and what to do; nil where nothing is.
    static func text(_ condition: WatermarkCondition) -> (message: String, hint: String)? {
        warning(condition).map { ($0.message, hint(condition)) }
    }

    private static func warning(_ condition: WatermarkCondition) -> (code: String, message: String)? {
        switch condition {
        case .firstContact, .intact: nil
        case .damaged(let entries):
            (
                "watermarksDamaged",
                "what was accepted before is or was damaged: \(entries) entries are not authentic; an older blob may pass"
            )
        case .lost:
            (
                "watermarksLost",
                "what was accepted before was lost; an older blob may have passed, or may pass"
            )
        case .unreadable(let reason):
            (
                "watermarksUnreadable",
                "what was accepted before is unreadable: \(reason.clause); an older blob may pass"
            )
        case .notPersisted(let reason):
            (
                "watermarksNotPersisted",
                "what was accepted now could not be remembered: \(reason.clause); an older blob may pass later"
            )
        }
    }

    private static func hint(_ condition: WatermarkCondition) -> String {
        switch condition {
        case .lost, .damaged: "See sealctl audit; once it is known why, sealctl vault accept ends this warning."
        default: "See sealctl audit."
        }
    }
}
