internal import AppGroups
internal import ArgumentParser
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// The team key's file and its passphrase.
struct TeamKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The team key's file, which signs the roster.", valueName: "FILE"), completion: .file())
    var teamKey: String

    @Option(
        help: ArgumentHelp(
            "Read the passphrase of the team key's file from the first line of FILE; - is standard input.",
            valueName: "FILE"), completion: .file())
    var teamPassphraseFile: String?

    /// Opens the key; asks for its passphrase where the file is protected and none was given.
    func open() throws(Failure) -> TeamKey {
        try KeyFilePassphrase(file: teamPassphraseFile).opening(teamKey) { passphrase throws(VaultError) in
            try TeamKey(contentsOf: teamKey, passphrase: passphrase)
        }
    }
}

/// The passphrase of a secret key's file.
struct KeyFilePassphrase {
    /// The file with the passphrase; nil asks on the terminal.
    let file: String?

    private var source: PassphraseSource {
        PassphraseSource(isPrompted: true, file: file, descriptor: nil) ?? .terminal
    }

    /// Opens a key's file, which is read once: a pipe gives its contents to one reader.
    ///
    /// - Parameter open: Asks for the passphrase where the file is protected.
    func opening<Key>(
        _ path: String, _ open: (@escaping () throws(VaultError) -> Passphrase) throws(VaultError) -> Key
    ) throws(Failure) -> Key {
        var refusal: Failure?
        do throws(VaultError) {
            return try open { () throws(VaultError) in
                do throws(Failure) { return try source.read(for: path, isNew: false) } catch {
                    refusal = error
                    throw VaultError(.locked, "open", path, "It is protected by a passphrase, which cannot be read.")
                }
            }
        } catch { throw refusal ?? Failure(error) }
    }

    /// Opens an identity's file. The passphrase of a protected one is asked for on the terminal.
    static func identity(_ path: String) throws(Failure) -> Identity {
        try KeyFilePassphrase(file: nil).opening(path) { passphrase throws(VaultError) in
            try Identity(contentsOf: path, passphrase: passphrase)
        }
    }

    /// A new passphrase; nil where the file is to be unprotected.
    func protection(of path: String, isUnprotected: Bool) throws(Failure) -> KeyProtection? {
        if isUnprotected { return nil }
        return KeyProtection(try source.read(for: path, isNew: true))
    }
}

/// A group's container and the roster that counts there.
struct RosterPlace {
    let group: AppGroup
    let home: GroupsHome
    let container: GroupContainer

    init(_ options: GroupOptions) throws(Failure) {
        let group = try options.appGroup()
        let home = try GroupOptions.home()
        container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, creating: false)
        }
        self.group = group
        self.home = home
    }

    /// What counts now; nil where no team key is known.
    func standing() throws(Failure) -> RosterAuthority.Standing? {
        try Failure.onVault { () throws(VaultError) in
            try RosterAuthority.find(group, in: container.root, home: home, teamKey: nil)?.standing()
        }
    }

    /// The roster that counts.
    func roster() throws(Failure) -> SignedRoster {
        guard let roster = try standing()?.roster else {
            throw Failure(
                .notFound, "noRoster", "no roster of \(group) was accepted",
                hint: "Try sealctl roster init, or sealctl roster verify --accept with the team's public key.")
        }
        return roster
    }

    /// Signs a changed roster as the next version and puts it in place.
    func sign(_ change: (inout Roster) throws(Failure) -> Void, with key: TeamKey) throws(Failure) -> SignedRoster {
        let next = try next(change, with: key)
        try put(next)
        return next
    }

    /// The period of the group's vault that this user's programs have seen; 0 where no team key has certified it.
    var certifiedPeriod: UInt64 { VaultPlace(AccessGroup(group), in: home).certifiedPeriod }

    /// The next version of the roster that counts, signed and not put anywhere. It ends the periods of the vault before the
    /// one that this user's programs have seen.
    func next(
        _ change: (inout Roster) throws(Failure) -> Void, with key: TeamKey
    ) throws(Failure) -> SignedRoster {
        var roster = try roster().roster
        roster.lowestPeriod = max(roster.lowestPeriod, certifiedPeriod)
        try change(&roster)
        roster.version += 1
        roster.signedAt = Timestamp.now.milliseconds
        return try Failure.onVault { () throws(VaultError) in try SignedRoster(signing: roster, with: key) }
    }

    func put(_ roster: SignedRoster) throws(Failure) {
        try Failure.onVault { () throws(VaultError) in
            try RosterFile.put(roster, in: container, home: home)
        }
    }
}

extension Roster {
    /// The writer that a person names by its label, its id or its public key.
    func writer(named text: String) throws(Failure) -> Writer {
        let found = writers.filter { $0.label == text || $0.id.description == text || $0.publicKey.description == text }
        guard found.count == 1, let writer = found.first else {
            throw Failure(
                .notFound, found.isEmpty ? "writerNotFound" : "writerAmbiguous",
                found.isEmpty
                    ? "the roster has no writer \(text.printable)"
                    : "\(found.count) writers of the roster are labelled \(text.printable)",
                hint: "See which there are: sealctl writer list.")
        }
        return writer
    }
}
