internal import AuditReports
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// What is said beside results and errors, always on standard error.
enum Talk {
    /// Something that was opened or decided, and why; with `--verbose` only. Never a value, a passphrase or a key.
    static func detail(_ line: @autoclosure () -> String) {
        guard Settings.current.isOn(.verbose) else { return }
        StandardStreams.say("sealctl: \(line().printable)")
    }

    /// Something that helps a person and that the result does not need; not with `--quiet`.
    static func note(_ line: @autoclosure () -> String) {
        guard !isQuiet else { return }
        StandardStreams.say("sealctl: \(line().printable)")
    }

    static var isQuiet: Bool { Settings.current.isOn(.quiet) }
}

/// Something that a person should know although the command did its work: one line on standard error.
struct Warning {
    /// Stable, for programs.
    private let code: String
    /// Without an end mark.
    private let message: String
    private let hint: String

    init(_ code: String, _ message: String, hint: String) {
        self.code = code
        self.message = message.printable
        self.hint = hint.printable
    }

    func report(asJSON: Bool) {
        guard asJSON else { return StandardStreams.say("sealctl: warning: \(message). \(hint)") }
        let fields: [(String, JSONText)] = [
            ("warning", .string(code)), ("message", .string(message + ".")), ("hint", .string(hint)),
        ]
        StandardStreams.say(JSONText.object(fields).text)
    }

    /// A change that was made although the access log could not be written.
    ///
    /// - Parameters:
    ///   - change: What was done, as a clause.
    ///   - isKeyLost: Whether the log's key was in a file that was given up.
    static func unlogged(_ change: String, isKeyLost: Bool = false) -> Warning {
        guard !isKeyLost else {
            return Warning(
                "unlogged",
                "\(change), and the access log has no entry of its first write: the key was in the file that was given up",
                hint: "The former log is set aside with that file; a new one has begun.")
        }
        return Warning(
            "unlogged", "\(change), and the access log has no entry of it: it cannot be written",
            hint: "See why: sealctl doctor. After a full disk make room for it.")
    }
}

/// What `--verbose` says of a vault or a store that was opened, and a warning where a rekey could not be completed.
enum OpeningTalk {
    static func tell(of store: SealedStore) {
        Talk.detail("opened the container \(store.containerPath)")
        tell(of: store.vault)
    }

    static func tell(of vault: Vault) {
        if let failure = vault.rekeyFailure {
            Warning(
                "rekeyNotCompleted",
                "a rekey of \(vault.accessGroup) was begun and is not completed: \(failure.reason.clause)",
                hint: failure.advice
            ).report(asJSON: GlobalFlags.wantsJSON(ProgramArguments.all))
        }
        Talk.detail("opened the vault \(vault.path) with \(opener(of: vault))")
    }

    private static func opener(of vault: Vault) -> String {
        guard let id = vault.openingSlot else { return "what a person unlocked before" }
        let kind = try? vault.slots().first { $0.id == id }?.kind
        return "slot \(id)" + (kind.map { " (\($0))" } ?? "")
    }
}
