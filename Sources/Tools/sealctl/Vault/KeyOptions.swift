internal import AppGroups
internal import ArgumentParser
internal import CryptoPrimitives
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// The credential of the vault. A passphrase is never an argument, because all users of the machine can read arguments.
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
        help: ArgumentHelp("Sign written records with the writer key in FILE.", valueName: "FILE"), completion: .file())
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

    /// True if no credential was stated.
    var isUnstated: Bool {
        passphraseSource == nil && keyFile == nil && identity == nil && credential == nil
    }

    /// True if a passphrase was requested, from any source.
    var hasPassphrase: Bool { passphraseSource != nil }

    /// The source of a passphrase, if one was requested.
    private var passphraseSource: PassphraseSource? {
        PassphraseSource(isPrompted: passphrase, file: passphraseFile, descriptor: passphraseFd)
    }

    /// Returns the stated credential, or `nil` for any available one.
    ///
    /// - Parameter isNew: True for a new passphrase, which is asked for twice.
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

    /// Returns the same for an app group.
    func stated(for group: AppGroup, isNew: Bool = false) throws(Failure) -> VaultCredential? {
        try stated(for: AccessGroup(group), isNew: isNew)
    }

    /// Returns the credential for an existing vault: the stated one, or else the one in the settings; `nil` for any
    /// available one.
    ///
    /// - Parameter isPersonal: Accepts only a person's credential. A key file or a credential of the unit in the
    ///   settings is ignored then.
    func opening(_ group: AccessGroup, isPersonal: Bool = false) throws(Failure) -> VaultCredential? {
        if let stated = try stated(for: group) { return stated }
        if isPersonal, let name = Settings.current.credential?.name, name == .keyFile || name == .credential {
            return nil
        }
        return try fromSettings(for: group)
    }

    /// Returns the same for an app group.
    func opening(_ group: AppGroup) throws(Failure) -> VaultCredential? { try opening(AccessGroup(group)) }

    /// Returns the credential from a variable or a configuration file for an existing vault, or `nil`.
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

    /// Opens the store of a group; creates nothing.
    func openStore(of group: AppGroup) throws(Failure) -> SealedStore {
        let credential = try opening(AccessGroup(group)) ?? .automatic
        let home = try GroupOptions.home()
        var options = StoreOptions()
        options.backend = KnownBackend.provider
        if let path = writerKey {
            options.writerKey = try KeyFilePassphrase.writer(writerPassphraseFile).opening(path) {
                passphrase throws(VaultError) in try WriterKey(contentsOf: path, passphrase: passphrase)
            }
        }
        do throws(StoreError) {
            let store = try SealedStore(
                group: group, in: home, unlockingWith: credential, creating: false, options: options)
            OpeningMessages.report(of: store)
            return store
        } catch {
            throw try LostVault.failure(of: AccessGroup(group), for: error.cause as? VaultError) ?? Failure(error)
        }
    }
}

/// The name of a systemd credential, or the usual name.
struct CredentialName: ExpressibleByArgument, Sendable, CustomStringConvertible {
    static let usual = CredentialName(name: nil)

    let name: String?

    private init(name: String?) { self.name = name }

    init?(argument: String) {
        guard !argument.isEmpty, !argument.contains("/") else { return nil }
        name = argument
    }

    /// The name as the help shows it.
    var description: String { name ?? "sealedstate.GROUP" }
}

/// The stated files of secret keys.
enum StatedKeyFiles {
    /// The files in the settings.
    static var ofSettings: [String] { [Settings.current[.identity]?.text].compactMap(\.self) }
}

/// The source of a passphrase: the terminal, a file, or an open descriptor. It is never an argument.
enum PassphraseSource: Sendable {
    case terminal
    case file(String)
    case descriptor(DescriptorNumber)

    /// Returns `nil` if no passphrase was requested.
    init?(isPrompted: Bool, file: String?, descriptor: DescriptorNumber?) {
        if let descriptor {
            self = .descriptor(descriptor)
        } else if let file {
            self = file == "-" ? .descriptor(.standardInput) : .file(file)
        } else if isPrompted {
            self = .terminal
        } else {
            return nil
        }
    }

    /// - Parameters:
    ///   - subject: The subject of the passphrase, as the prompt shows it.
    ///   - isNew: True for a new passphrase, which is asked for twice.
    ///   - word: The name of the secret in the prompt.
    func read(for subject: String, isNew: Bool, as word: String = "Passphrase") throws(Failure) -> Passphrase {
        switch self {
        case .terminal: try PassphrasePrompt(subject: subject).ask(twice: isNew, word)
        case .file(let path): try Failure.onVault { () throws(VaultError) in try Passphrase(contentsOf: path) }
        case .descriptor(let number): try number.readPassphrase()
        }
    }
}

/// The number of a file descriptor that the parent process has opened for this program.
struct DescriptorNumber: ExpressibleByArgument, Sendable {
    static let standardInput = DescriptorNumber(value: 0)

    let value: Int32

    private init(value: Int32) { self.value = value }

    init?(argument: String) {
        // Reading a passphrase from the program's own output is a typing error.
        guard let value = Int32(argument), value == 0 || value > 2 else { return nil }
        self.value = value
    }

    /// Reads the first line byte by byte, so that the next reader gets the rest. The line must arrive within
    /// `Descriptor.inputLimit`; a terminal has no time limit.
    fileprivate func readPassphrase() throws(Failure) -> Passphrase {
        let descriptor = value == 0 ? Descriptor.standardInput : Descriptor(owning: value, path: "descriptor \(value)")
        let deadline = ContinuousClock.now + Descriptor.inputLimit
        let line = try SecretLine.read(limit: Passphrase.maximumSize + 1) { byte throws(Failure) in
            do throws(FileError) { return try descriptor.readSome(into: byte, until: deadline) == 1 } catch {
                throw Failure(error)
            }
        }
        return try Failure.onVault { () throws(VaultError) in
            try line.bytes.withUnsafeBytes { line throws(VaultError) in
                // Editors of other systems end lines with two characters.
                let end = line.last == 0x0D ? line.count - 1 : line.count
                return try Passphrase(copying: UnsafeRawBufferPointer(rebasing: line[..<end]))
            }
        }
    }
}
