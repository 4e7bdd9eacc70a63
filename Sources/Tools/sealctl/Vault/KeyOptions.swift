internal import AppGroups
internal import ArgumentParser
internal import KeyVault
internal import SealedState

/// What opens the vault. A passphrase is never an argument: arguments are public to everybody on the machine.
struct KeyOptions: ParsableArguments {
    @Flag(help: "Ask for the vault's passphrase on the terminal.")
    var passphrase = false

    @Option(
        help: ArgumentHelp(
            "Read the passphrase from FILE, without its line end; - is a line of standard input.", valueName: "FILE"),
        completion: .file())
    var passphraseFile: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Read the passphrase from a line of the open file descriptor N.", valueName: "N"))
    var passphraseFd: DescriptorNumber?

    @Option(
        help: ArgumentHelp("Open the vault with this key file instead of the group's own.", valueName: "FILE"),
        completion: .file())
    var keyFile: String?

    @Option(
        help: ArgumentHelp("Open the vault with the X25519 identity in FILE.", valueName: "FILE"), completion: .file())
    var identity: String?

    @Option(
        defaultAsFlag: CredentialName.usual, parsing: .next,
        help: ArgumentHelp(
            "Open the vault with a systemd credential; sealedstate.GROUP unless it is named.", valueName: "NAME"))
    var credential: CredentialName?

    @Option(
        help: ArgumentHelp("Sign what is written with the writer key in FILE.", valueName: "FILE"), completion: .file())
    var writerKey: String?

    @Option(
        help: ArgumentHelp(
            "Read the passphrase of the writer key's file from the first line of FILE; - is standard input.",
            valueName: "FILE"), completion: .file())
    var writerPassphraseFile: String?

    func validate() throws {
        guard ![keyFile, identity, passphraseFile].contains("") else {
            throw ValidationError("--key-file, --identity and --passphrase-file need a file, not an empty path")
        }
        guard writerPassphraseFile == nil || writerKey != nil else {
            throw ValidationError("--writer-passphrase-file is for a writer key: give --writer-key as well.")
        }
        let stated = [
            passphrase, passphraseFile != nil, passphraseFd != nil, keyFile != nil, identity != nil,
            credential != nil,
        ]
        guard stated.filter({ $0 }).count < 2 else {
            throw ValidationError(
                "Give one of --passphrase, --passphrase-file, --passphrase-fd, --key-file, --identity and --credential."
            )
        }
    }

    /// Whether nothing was stated.
    var isUnstated: Bool {
        passphraseSource == nil && keyFile == nil && identity == nil && credential == nil
    }

    /// Whether a passphrase was asked for, from wherever.
    var hasPassphrase: Bool { passphraseSource != nil }

    /// Where a passphrase is to come from, if one was asked for.
    private var passphraseSource: PassphraseSource? {
        PassphraseSource(isPrompted: passphrase, file: passphraseFile, descriptor: passphraseFd)
    }

    /// The credential that was stated; nil stands for whatever is at hand.
    ///
    /// - Parameter isNew: Whether the passphrase is being chosen, which asks for it twice.
    func stated(for group: AccessGroup, isNew: Bool = false) throws(Failure) -> VaultCredential? {
        if let keyFile { return .keyFile(path: keyFile) }
        if let identity {
            return .identity(try KeyFilePassphrase.identity(identity))
        }
        if let credential { return .systemdCredential(name: credential.name) }
        return try passphraseSource.map { source throws(Failure) in
            .passphrase(try source.read(for: group.identifier, isNew: isNew))
        }
    }

    /// The same for an app group.
    func stated(for group: AppGroup, isNew: Bool = false) throws(Failure) -> VaultCredential? {
        try stated(for: AccessGroup(group), isNew: isNew)
    }

    /// What opens a vault that is there: what was stated, else what settings say; nil stands for whatever is at hand.
    ///
    /// - Parameter isPersonal: Whether only what a person has will do: settings with a key file or a credential of the unit
    ///   are passed over then.
    func opening(_ group: AccessGroup, isPersonal: Bool = false) throws(Failure) -> VaultCredential? {
        if let stated = try stated(for: group) { return stated }
        if isPersonal, let name = Settings.current.credential?.name, name == .keyFile || name == .credential {
            return nil
        }
        return try fromSettings(for: group)
    }

    /// The same for an app group.
    func opening(_ group: AppGroup) throws(Failure) -> VaultCredential? { try opening(AccessGroup(group)) }

    /// What a variable or a configuration file says that opens a vault which is there; nil where none does.
    private func fromSettings(for group: AccessGroup) throws(Failure) -> VaultCredential? {
        guard let (name, value) = Settings.current.credential else { return nil }
        switch name {
        case .keyFile: return .keyFile(path: value.text)
        case .identity:
            return .identity(try KeyFilePassphrase.identity(value.text))
        case .credential: return .systemdCredential(name: value.text)
        default: return .passphrase(try PassphraseSource.file(value.text).read(for: group.identifier, isNew: false))
        }
    }

    /// Opens the store of a group that has one; nothing is made.
    func openStore(of group: AppGroup) throws(Failure) -> SealedStore {
        let credential = try opening(AccessGroup(group)) ?? .automatic
        let home = try GroupOptions.home()
        var options = StoreOptions()
        if let path = writerKey {
            options.writerKey = try KeyFilePassphrase.writer(writerPassphraseFile).opening(path) {
                passphrase throws(VaultError) in try WriterKey(contentsOf: path, passphrase: passphrase)
            }
        }
        do throws(StoreError) {
            let store = try SealedStore(
                group: group, in: home, unlockingWith: credential, creating: false, options: options)
            OpeningTalk.tell(of: store)
            return store
        } catch {
            throw try LostVault.failure(of: AccessGroup(group), for: error.cause as? VaultError) ?? Failure(error)
        }
    }
}

/// The name of a systemd credential; the usual one where none is given.
struct CredentialName: ExpressibleByArgument, Sendable, CustomStringConvertible {
    static let usual = CredentialName(name: nil)

    let name: String?

    private init(name: String?) { self.name = name }

    init?(argument: String) {
        guard !argument.isEmpty, !argument.contains("/") else { return nil }
        name = argument
    }

    /// As the help shows it.
    var description: String { name ?? "sealedstate.GROUP" }
}

/// Files of secret keys that a person has named.
enum StatedKeyFiles {
    /// Those of the settings.
    static var ofSettings: [String] { [Settings.current[.identity]?.text].compactMap(\.self) }
}
