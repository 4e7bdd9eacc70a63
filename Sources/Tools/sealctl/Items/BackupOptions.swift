internal import ArgumentParser
internal import KeyVault

/// A backup's own passphrase. The options for the vault's credentials have the shorter names.
struct BackupPassphrase: ParsableArguments {
    @Flag(help: "Ask for the backup's passphrase on the terminal.")
    var backupPassphrase = false

    @Option(
        help: ArgumentHelp(
            "Read the backup's passphrase from FILE, without its line end; - is a line of standard input.",
            valueName: "FILE"),
        completion: .file())
    var backupPassphraseFile: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Read the backup's passphrase from a line of the open file descriptor N.", valueName: "N"))
    var backupPassphraseFd: DescriptorNumber?

    func validate() throws {
        let stated = [backupPassphrase, backupPassphraseFile != nil, backupPassphraseFd != nil]
        guard stated.filter({ $0 }).count < 2 else {
            throw ValidationError(
                "Give one of --backup-passphrase, --backup-passphrase-file and --backup-passphrase-fd.")
        }
    }

    /// The source; `nil` if no passphrase was requested.
    var source: PassphraseSource? {
        PassphraseSource(
            isPrompted: backupPassphrase, file: backupPassphraseFile, descriptor: backupPassphraseFd)
    }
}

extension PassphraseSource {
    /// Reads a backup's passphrase.
    ///
    /// - Parameter path: The backup, for the prompt.
    func readForBackup(_ path: String, isNew: Bool) throws(Failure) -> Passphrase {
        do throws(Failure) { return try read(for: path, isNew: isNew) } catch {
            guard error.code == "noTerminal" else { throw error }
            throw Failure(
                error.status, error.code, error.message,
                hint: isNew
                    ? "Try --backup-passphrase-file FILE or --recipient R."
                    : "Try --backup-passphrase-file FILE or --backup-identity FILE.")
        }
    }
}

/// The part of a backup that a command works on.
struct BackupPart: ParsableArguments {
    @Flag(help: "Sealing keys only, no items.")
    var keysOnly = false

    @Flag(help: "Items only, no sealing keys.")
    var itemsOnly = false

    func validate() throws {
        guard !keysOnly || !itemsOnly else { throw ValidationError("Give one of --keys-only and --items-only.") }
    }

    var contents: BackupContents { keysOnly ? .keysOnly : itemsOnly ? .itemsOnly : .everything }
}
