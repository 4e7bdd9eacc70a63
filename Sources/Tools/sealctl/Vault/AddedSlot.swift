internal import AppGroups
internal import ArgumentParser
internal import KeyVault

/// A new slot of an existing vault. The options for the vault's present credential have the shorter names.
struct AddedSlot: ParsableArguments {
    @Flag(help: "Ask twice for a new passphrase on the terminal.")
    var newPassphrase = false

    @Option(
        help: ArgumentHelp(
            "Read the new passphrase from FILE, without its line end; - is a line of standard input.", valueName: "FILE"
        ),
        completion: .file())
    var newPassphraseFile: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Read the new passphrase from a line of the open file descriptor N.", valueName: "N"))
    var newPassphraseFd: DescriptorNumber?

    @Option(
        help: ArgumentHelp(
            "The time that one try of the new passphrase takes on this machine: 500ms, 2s.", valueName: "TIME"))
    var unlockTime: UnlockTime?

    @Flag(help: "The group's own key file, created if it is missing.")
    var newDefaultKeyFile = false

    @Option(help: ArgumentHelp("An existing key file.", valueName: "FILE"), completion: .file())
    var newKeyFile: String?

    @Option(
        defaultAsFlag: CredentialName.usual, parsing: .next,
        help: ArgumentHelp(
            "A systemd credential of this process; sealedstate.GROUP unless it is named.", valueName: "NAME"))
    var newCredential: CredentialName?

    @Option(help: ArgumentHelp("Another person's or program's recipient, sealed1...", valueName: "R"))
    var recipient: RecipientText?

    @Flag(help: "The recipient is a program: it never reaches the class \"when unlocked\".")
    var unattended = false

    func validate() throws {
        guard count < 2 else { throw ValidationError("Give one new slot at a time.") }
        guard unlockTime == nil || !isStated || passphraseSource != nil else {
            throw ValidationError("--unlock-time is for a passphrase.")
        }
        guard !unattended || recipient != nil else {
            throw ValidationError("--unattended is for a recipient: give --recipient as well.")
        }
    }

    private var passphraseSource: PassphraseSource? {
        PassphraseSource(isPrompted: newPassphrase, file: newPassphraseFile, descriptor: newPassphraseFd)
    }

    private var count: Int {
        [
            newPassphrase, newPassphraseFile != nil, newPassphraseFd != nil, newDefaultKeyFile, newKeyFile != nil,
            newCredential != nil, recipient != nil,
        ].filter { $0 }.count
    }

    /// True if a new slot was stated.
    var isStated: Bool { count > 0 }

    /// The named slot, or without one a passphrase, reaches the keys that are protected when unlocked.
    var reachesWhenUnlocked: Bool { !isStated || passphraseSource != nil || (recipient != nil && !unattended) }

    /// - Throws: `Failure` `noSlot` where none was named.
    func requireOne() throws(Failure) {
        guard !isStated else { return }
        throw Failure(
            .usage, "noSlot", "no new slot was named",
            hint: "Try --new-passphrase, --new-key-file FILE or --recipient R.")
    }

    /// Returns the stated slot and reads its secret.
    func slot(for group: AccessGroup) throws(Failure) -> NewSlot {
        if let recipient { return .recipient(try recipient.checked(), unattended: unattended) }
        if let newKeyFile { return .keyFile(path: newKeyFile) }
        if let newCredential { return .systemdCredential(name: newCredential.name) }
        if let source = passphraseSource { return try passphrase(from: source, group) }
        return .defaultKeyFile
    }

    /// Returns a slot for a passphrase from the terminal.
    func promptedPassphrase(for group: AccessGroup) throws(Failure) -> NewSlot {
        try passphrase(from: .terminal, group)
    }

    private func passphrase(from source: PassphraseSource, _ group: AccessGroup) throws(Failure) -> NewSlot {
        let chosen = try source.read(for: group.identifier, isNew: true, as: "New passphrase")
        return .passphrase(chosen, try unlockTime?.costs() ?? .recommended)
    }
}

/// The time that one try of a passphrase takes on this machine: `500ms`, `2s`.
struct UnlockTime: ExpressibleByArgument, Sendable, Equatable {
    /// The limit of the calibration, in milliseconds.
    private static let longest: UInt64 = 60_000

    private let milliseconds: UInt64

    init?(argument: String) {
        let (unit, factor): (String, UInt64) = argument.hasSuffix("ms") ? ("ms", 1) : ("s", 1000)
        let digits = argument.dropLast(unit.count)
        guard argument.hasSuffix(unit), !digits.isEmpty,
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = UInt64(digits), count > 0, count <= Self.longest / factor
        else { return nil }
        milliseconds = count * factor
    }

    /// Returns costs that take that long. The measurement takes about twice as long.
    func costs() throws(Failure) -> PassphraseCosts {
        try Failure.onVault { () throws(VaultError) in
            try PassphraseCosts.calibrated(for: .milliseconds(Int64(milliseconds)))
        }
    }
}
