internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import CryptoPrimitives
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

    /// Opens the key. It asks for the passphrase if the file is protected and no passphrase was given.
    func open() throws(Failure) -> TeamKey {
        try KeyFilePassphrase.team(teamPassphraseFile).opening(teamKey) { passphrase throws(VaultError) in
            try TeamKey(contentsOf: teamKey, passphrase: passphrase)
        }
    }
}

/// The public half of a lost team key that a person replaces.
struct ReplacedTeamKey: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Replace the lost team key KEY; give its public half.", valueName: "KEY"))
    var replaces: String?

    /// Returns the key, or `nil` if none was stated.
    func key() throws(Failure) -> TeamPublicKey? {
        guard let replaces else { return nil }
        return try Failure.onVault { () throws(VaultError) in try TeamPublicKey(replaces) }
    }
}

/// The passphrase of a secret key's file.
struct KeyFilePassphrase {
    /// The file with the passphrase; `nil` asks on the terminal.
    let file: String?
    /// The option that states the file; `nil` if the command has none.
    let option: String?

    static func team(_ file: String?) -> Self { Self(file: file, option: "--team-passphrase-file") }
    static func writer(_ file: String?) -> Self { Self(file: file, option: "--writer-passphrase-file") }

    private func read(for path: String, isNew: Bool) throws(Failure) -> Passphrase {
        let source = PassphraseSource(isPrompted: true, file: file, descriptor: nil) ?? .terminal
        do throws(Failure) { return try source.read(for: path, isNew: isNew) } catch {
            // The default advice names the option of the vault's passphrase.
            guard ["noTerminal", "inputNeeded"].contains(error.code) else { throw error }
            throw Failure(
                error.status, error.code, error.message,
                hint: option.map { "Try \($0) FILE." } ?? "Run it on a terminal, or use a file without a passphrase.")
        }
    }

    /// Opens a key's file. It is read once, because a pipe passes its contents to one reader.
    ///
    /// - Parameter open: Opens the key, and asks for the passphrase if the file is protected.
    func opening<Key>(
        _ path: String, _ open: (@escaping () throws(VaultError) -> Passphrase) throws(VaultError) -> Key
    ) throws(Failure) -> Key {
        var refusal: Failure?
        do throws(VaultError) {
            return try open { () throws(VaultError) in
                do throws(Failure) { return try read(for: path, isNew: false) } catch {
                    refusal = error
                    throw VaultError(.locked, "open", path, "It is protected by a passphrase, which cannot be read.")
                }
            }
        } catch { throw refusal ?? Failure(error) }
    }

    /// Opens an identity's file. The passphrase of a protected file is asked for on the terminal.
    static func identity(_ path: String) throws(Failure) -> Identity {
        try KeyFilePassphrase(file: nil, option: nil).opening(path) { passphrase throws(VaultError) in
            try Identity(contentsOf: path, passphrase: passphrase)
        }
    }

    /// Returns a new passphrase, or `nil` for an unprotected file.
    func protection(of path: String, isUnprotected: Bool) throws(Failure) -> KeyProtection? {
        if isUnprotected { return nil }
        return KeyProtection(try read(for: path, isNew: true))
    }
}

/// A group's container and its valid roster.
struct RosterPlace {
    let group: AppGroup
    let home: GroupsHome
    let container: GroupContainer

    init(_ options: GroupOptions) throws(Failure) { try self.init(try options.appGroup(), in: try GroupOptions.home()) }

    init(_ group: AppGroup, in home: GroupsHome) throws(Failure) {
        container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, creating: false)
        }
        self.group = group
        self.home = home
    }

    /// Returns the valid roster and team key, or `nil` if no team key is known.
    func current() throws(Failure) -> RosterAuthority.RosterState? {
        try Failure.onVault { () throws(VaultError) in
            try RosterAuthority.find(group, in: container.root, home: home, teamKey: nil)?.current()
        }
    }

    /// Returns the valid roster.
    func roster() throws(Failure) -> SignedRoster {
        guard let roster = try current()?.roster else {
            throw Failure(
                .notFound, "noRoster", "no roster of \(group) was accepted",
                hint: "Try sealctl roster init, or sealctl roster verify --accept with the team's public key.")
        }
        return roster
    }

    /// Signs a changed roster as the next version and stores it.
    func sign(_ change: (inout Roster) throws(Failure) -> Void, with key: TeamKey) throws(Failure) -> SignedRoster {
        let next = try next(change, with: key)
        try put(next)
        return next
    }

    /// Returns the state of the group's vault that a team key has certified, or `nil` if it has not certified the vault
    /// or this user's programs would refuse the vault.
    func certifiedState(by team: TeamPublicKey, isLost: Bool = false) -> VaultFloor? {
        let found = VaultPlace(AccessGroup(group), in: home).certification(replacing: isLost ? team : nil)
        return found.flatMap { $0.team == team ? $0.state : nil }
    }

    /// Signs a roster that names the vault's state as the lowest one, or the first roster of the group. A group without
    /// a container has no records and needs no roster.
    ///
    /// Without it, a former person could offer a vault that continues an old copy to readers that have not seen the
    /// change.
    static func raise(
        to state: VaultFloor, _ group: AppGroup, in home: GroupsHome, with key: TeamKey
    ) throws(Failure) {
        let place: RosterPlace
        do throws(Failure) { place = try RosterPlace(group, in: home) } catch {
            if error.status == .notFound { return }
            throw error
        }
        guard let roster = try place.current()?.roster?.roster else {
            try place.requireNoOther(than: nil)
            return try place.put(try place.first(by: key, floor: state))
        }
        guard roster.team == key.publicKey, roster.floor.isBelow(state) else { return }
        _ = try place.sign({ _ in }, with: key)
    }

    /// Returns the first version of a roster.
    func first(by key: TeamKey, floor: VaultFloor) throws(Failure) -> SignedRoster {
        let roster = Roster(
            group: group.identifier, id: SecureRandom.bytes(count: 16).withRawBytes { Bytes16($0) }, version: 1,
            signedAt: Timestamp.now.milliseconds, team: key.publicKey, floor: floor)
        return try Failure.onVault { () throws(VaultError) in try SignedRoster(signing: roster, with: key) }
    }

    /// Returns the roster in the container, signed by any key, or `nil` if the container has no file that is a roster
    /// of the group.
    func found() throws(Failure) -> SignedRoster? {
        let bytes = try Failure.onVault { () throws(VaultError) in try RosterFile.read(in: container) }
        return bytes.flatMap { try? SignedRoster(verifying: $0, group: group.identifier) }
    }

    /// - Parameter lostKey: The team key whose roster may be present.
    /// - Throws: `Failure` `alreadyExists` if the container has the roster of another team key.
    func requireNoOther(than lostKey: TeamPublicKey?) throws(Failure) {
        guard let team = try found()?.roster.team, team != lostKey else { return }
        throw Failure(
            .duplicate, "alreadyExists", "the container of \(group) has a roster of the team key \(team)",
            hint:
                "Ask the team. If the key is right: sealctl roster verify --accept KEY; if not, move the file away: "
                + "\(container.root.display(ContainerLayout.roster))")
    }

    /// Returns the next version of the valid roster, signed but not stored. It ends the states of the vault before the
    /// one that this user's programs have seen.
    func next(
        _ change: (inout Roster) throws(Failure) -> Void, with key: TeamKey
    ) throws(Failure) -> SignedRoster {
        var roster = try roster().roster
        if let state = certifiedState(by: roster.team) { roster.floor = roster.floor.raised(to: state) }
        try change(&roster)
        roster.version += 1
        roster.signedAt = Timestamp.now.milliseconds
        return try Failure.onVault { () throws(VaultError) in try SignedRoster(signing: roster, with: key) }
    }

    /// - Parameter isAnew: As for `RosterFile.put`.
    func put(_ roster: SignedRoster, isAnew: Bool = false) throws(Failure) {
        try Failure.onVault { () throws(VaultError) in
            try RosterFile.put(roster, in: container, home: home, isAnew: isAnew)
        }
    }
}

extension Roster {
    /// Returns the writer with this label, id or public key.
    func writer(named text: String) throws(Failure) -> Writer {
        let found = writers.filter { $0.label == text || $0.id.description == text || $0.publicKey.description == text }
        guard found.count == 1, let writer = found.first else {
            throw Failure(
                .notFound, found.isEmpty ? "writerNotFound" : "writerAmbiguous",
                found.isEmpty
                    ? "the roster has no writer \(text.printable)"
                    : "\(found.count) writers of the roster are labelled \(text.printable)",
                hint: "See the writers: sealctl writer list.")
        }
        return writer
    }
}
