internal import AuditReports
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// Messages in addition to results and errors, always on standard error.
enum ConsoleMessages {
    /// Reports an opened file or a decision, and the reason, with `--verbose` only. It never contains a value, a
    /// passphrase or a key.
    static func detail(_ line: @autoclosure () -> String) {
        guard Settings.current.isOn(.verbose) else { return }
        StandardStreams.say("sealctl: \(line().printable)")
    }

    /// Prints a helpful note that the result does not require, unless `--quiet` is given.
    static func note(_ line: @autoclosure () -> String) {
        guard !isQuiet else { return }
        StandardStreams.say("sealctl: \(line().printable)")
    }

    static var isQuiet: Bool { Settings.current.isOn(.quiet) }
}

/// A warning after successful work: one line on standard error.
struct Warning {
    /// A stable code, for programs.
    private let code: String
    /// The message, without an end mark.
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

    /// Returns the warning about a change that the access log does not contain.
    ///
    /// - Parameters:
    ///   - change: The change, as a clause.
    ///   - isKeyLost: True if the log's key was in an abandoned file.
    static func unlogged(_ change: String, isKeyLost: Bool = false) -> Warning {
        guard !isKeyLost else {
            return Warning(
                "unlogged",
                "\(change), and the access log has no entry of its first write: the key was in the abandoned file",
                hint: "The former log is set aside with that file; a new one has begun.")
        }
        return Warning(
            "unlogged", "\(change), and the access log has no entry of it: it cannot be written",
            hint: "Find the reason with sealctl doctor. After a full disk free space for it.")
    }
}

/// The messages of `--verbose` about an opened vault or store, and a warning about an incomplete rekey.
enum OpeningMessages {
    static func report(of store: SealedStore) {
        ConsoleMessages.detail("opened the container \(store.containerPath)")
        report(of: store.vault)
    }

    static func report(of vault: Vault) {
        if let failure = vault.rekeyFailure {
            Warning(
                "rekeyNotCompleted",
                "a rekey of \(vault.accessGroup) was started and is not completed: \(failure.reason.clause)",
                hint: failure.advice
            ).report(asJSON: GlobalFlags.wantsJSON(ProgramArguments.all))
        }
        ConsoleMessages.detail("opened the vault \(vault.path) with \(opener(of: vault))")
    }

    private static func opener(of vault: Vault) -> String {
        guard let id = vault.openingSlot else { return "the keys that a person has unlocked" }
        let kind = try? vault.slots().first { $0.id == id }?.kind
        return "slot \(id)" + (kind.map { " (\($0))" } ?? "")
    }
}
