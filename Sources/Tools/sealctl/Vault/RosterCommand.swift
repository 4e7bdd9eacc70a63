internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import CryptoPrimitives
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// `sealctl roster`: manages which programs may write which records.
struct RosterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roster",
        abstract: "The signed list of a group's writers, and of the names that each may write.",
        discussion: """
            The team key signs the roster, which is stored in the group's container. A reader that knows the team key \
            refuses a governed record without the signature of an authorized writer, even from a program with the \
            group's keys.
            """,
        subcommands: [
            RosterInitCommand.self, RosterShowCommand.self, RosterSignCommand.self, RosterVerifyCommand.self,
        ])
}

/// `sealctl roster init`: creates the first roster of a group.
struct RosterInitCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create the first roster of a group, and a team key if the file does not exist.",
        discussion: """
            A new team key's file is protected by a passphrase. Keep it offline: a person with the key and the \
            passphrase decides who may write. The command prints its public half, which programs state \
            (StoreOptions.teamKey), or the administrator in /etc/sealedstate/GROUP.team; this user remembers it.

            If the team key is lost, --replaces names it, and the new roster begins without its writers and rules. \
            State the new key first in each place that states the lost one. Every other user accepts it with sealctl \
            roster verify --accept. The command names the writers and rules and asks first, unless --yes is given.

            Examples:
              sealctl roster init --team-key /media/usb/team.key
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup var keys: TeamKeyOptions
    @Flag(help: "Create the new team key without a passphrase.")
    var unprotected = false
    @OptionGroup var replaced: ReplacedTeamKey
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let place = try RosterPlace(groupOptions)
        // A person may have accepted the team key before there was a roster.
        let known = try place.current()
        let lostKey = try replaced.key()
        let accepted = known?.roster?.roster
        if let roster = accepted, roster.team != lostKey {
            throw Failure(
                .duplicate, "alreadyExists", "\(place.group) has a team key, \(roster.team)",
                hint: "Change its roster: sealctl roster sign. If the key is lost: --replaces \(roster.team).")
        }
        try place.requireNoOther(than: lostKey)
        let present = try teamKey(isKnown: known != nil && lostKey == nil)
        let key: TeamKey
        if let present {
            key = present
        } else {
            key = try Failure.onVault { () throws(VaultError) in try TeamKey.random() }
        }
        guard key.publicKey != lostKey else {
            throw Failure(
                .usage, "usage", "the team key \(key.publicKey) cannot replace itself",
                hint: "Give the file of another team key, or a new file name.")
        }
        try Failure.onVault { () throws(VaultError) in
            try VaultPlace(AccessGroup(place.group), in: place.home).requireKnown(key.publicKey, replacing: lostKey)
        }
        let floor = try floor(of: place, lostKey, key.publicKey)
        if let lostKey { try confirm(replacing: lostKey, of: accepted, in: place) }
        if present == nil { try write(key) }
        try place.put(try place.first(by: key, floor: floor), isAnew: lostKey != nil)
        let fields: [(String, JSONText)] = [
            ("group", .string(place.group.identifier)), ("teamKey", .string(key.publicKey.description)),
            ("version", .unsigned(1)),
        ]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : key.publicKey.description)
    }

    /// Returns the lowest vault state of the new roster. States that the lost key's roster has ended must stay ended,
    /// because former persons know the keys of earlier states. The value comes from the states that this user has
    /// accepted; the program's and the machine's present settings, and a planted roster, have no effect.
    private func floor(
        of place: RosterPlace, _ lostKey: TeamPublicKey?, _ key: TeamPublicKey
    ) throws(Failure) -> VaultFloor {
        let remembered = try Failure.onVault { () throws(VaultError) in
            try RosterMemory(of: place.group, in: place.home).load()
        }
        if let ended = remembered?.roster, ended.isOfTeam(key), ended.roster.team != key {
            throw Failure(
                .noPermission, "wrongTeamKey", "the team key \(key) has a successor, \(ended.roster.team)",
                hint: "Give the file of another team key, or a new file name.")
        }
        var floor = remembered?.roster?.roster.floor ?? VaultFloor()
        if let lostKey, remembered?.teamKey == lostKey, let found = try place.found(), found.roster.team == lostKey {
            floor = floor.raised(to: found.roster.floor)
        }
        let state = place.certifiedState(by: lostKey ?? key, isLost: lostKey != nil)
        return state.map { floor.raised(to: $0) } ?? floor
    }

    /// Returns the team key, or `nil` if its file does not exist.
    ///
    /// - Parameter isKnown: True if a team key is known. A new key would differ from it.
    private func teamKey(isKnown: Bool) throws(Failure) -> TeamKey? {
        do throws(Failure) { return try keys.open() } catch {
            guard error.status == .noInput, !isKnown else { throw error }
            return nil
        }
    }

    private func write(_ key: TeamKey) throws(Failure) {
        let protection = try KeyFilePassphrase.team(keys.teamPassphraseFile)
            .protection(of: keys.teamKey, isUnprotected: unprotected)
        try Failure.onVault { () throws(VaultError) in try key.write(to: keys.teamKey, protectedBy: protection) }
    }

    private func confirm(
        replacing lostKey: TeamPublicKey, of roster: Roster?, in place: RosterPlace
    ) throws(Failure) {
        var losses = [
            "Programs of other users that know that key refuse the new roster and its records until they "
                + "accept the new key."
        ]
        var known = roster
        if known == nil { known = try place.found()?.roster }
        if let roster = known, !roster.writers.isEmpty || !roster.rules.isEmpty {
            let writers = Affected.list(roster.writers.map(\.label), orElse: "none")
            let rules = Affected.list(roster.rules.map(\.pattern.description), orElse: "none")
            losses.append(
                "The new roster has no writers and no rules. Lost writers: \(writers); lost rules: \(rules). "
                    + "Every program with the group's keys may write those names.")
        }
        try confirmation.require("replace the team key \(lostKey) of \(place.group)", losses)
    }
}

/// `sealctl roster show`: prints the valid roster.
struct RosterShowCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the roster in effect: its rules, writers and team key.",
        discussion: """
            The command does not open the vault. FILE compares the container's roster with the accepted one: current, \
            missing, older, forked, or why it is refused.

            Examples:
              sealctl roster show --group group.com.example.app
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let place = try RosterPlace(groupOptions)
        let condition = try place.current()?.condition.code ?? "missing"
        let view = RosterView(try place.roster(), file: condition)
        try StandardStreams.print(output.json ? view.json.text : view.text)
    }
}

/// `sealctl roster verify`: checks that a roster belongs to the group.
struct RosterVerifyCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify the roster in the container, or accept it under a team key.",
        discussion: """
            Verifies the signature, the chain of team keys, and that the roster is not older than the one that this \
            user accepted last. With --accept KEY this user remembers KEY as the group's team key, if the container \
            has a roster signed by it; compare KEY with the one that the team publishes.

            Examples:
              sealctl roster verify
              sealctl roster verify --accept sealedteam1...
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Option(help: ArgumentHelp("Remember this public key as the group's team key.", valueName: "KEY"))
    var accept: String?
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let place = try RosterPlace(groupOptions)
        if let accept { try remember(accept, place) }
        guard let current = try place.current() else {
            throw Failure(
                .notFound, "noTeamKey", "no team key of \(place.group) is known",
                hint: "Try sealctl roster verify --accept KEY with the team's public key.")
        }
        try require(current.condition)
        let version = current.roster?.roster.version ?? 0
        let fields: [(String, JSONText)] = [("version", .unsigned(version)), ("file", .string("current"))]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : "version \(version), verified")
    }

    private func remember(_ text: String, _ place: RosterPlace) throws(Failure) {
        let key = try Failure.onVault { () throws(VaultError) in try TeamPublicKey(text) }
        guard let bytes = try Failure.onVault({ () throws(VaultError) in try RosterFile.read(in: place.container) })
        else {
            throw Failure(
                .notFound, "noRoster", "the container of \(place.group) has no roster; the key was not accepted",
                hint: "Put the newest signed roster in its place, and accept the key again.")
        }
        try Failure.onVault { () throws(VaultError) in
            let roster = try SignedRoster(verifying: bytes, group: place.group.identifier)
            guard roster.isOfTeam(key) else {
                throw VaultError(
                    .wrongTeamKey, "accept", "the roster", "It is signed by \(roster.roster.team).",
                    advice: "Nothing was accepted; ask the team which key is right.")
            }
            try RosterMemory(of: place.group, in: place.home).accept(
                RosterMemory.Contents(teamKey: roster.roster.team, roster: roster), naming: key)
        }
    }

    private func require(_ condition: RosterCondition) throws(Failure) {
        switch condition {
        case .current: return
        case .refused(let error): throw Failure(error)
        case .missing:
            throw Failure(
                .notFound, "missing", "the container has no roster",
                hint: "Put the newest signed roster in its place; the one that was accepted last stays in effect.")
        case .older(let version):
            throw Failure(
                .dataError, "older", "the roster in the container has the older version \(version)",
                hint: "Put the newest signed roster in its place, and find out who replaced it.")
        case .forked:
            throw Failure(
                .dataError, "forked", "the roster in the container has the accepted version and other contents",
                hint: "Ask the team which one is right; the one that was accepted first stays in effect.")
        }
    }
}

/// A roster for people and programs.
struct RosterView {
    let roster: Roster
    let file: String

    init(_ signed: SignedRoster, file: String) {
        roster = signed.roster
        self.file = file
    }

    private func label(_ id: WriterID) -> String { roster.writer(id)?.label ?? id.description }

    static func text(_ rights: Roster.Rights) -> String {
        switch rights {
        case .all: "write,delete"
        case .write: "write"
        case .delete: "delete"
        default: "none"
        }
    }

    var text: String {
        var table = TextTable([.init(title: "PATTERN"), .init(title: "WRITER"), .init(title: "RIGHTS")])
        for rule in roster.rules {
            if rule.grants.isEmpty { table.add([rule.pattern.description, "-", "none"]) }
            for (writer, rights) in rule.grants.sorted(by: { label($0.key) < label($1.key) }) {
                table.add([rule.pattern.description, label(writer).printable, Self.text(rights)])
            }
        }
        let head =
            "version \(roster.version), file \(file)\nteam key \(roster.team)\n"
            + "lowest period \(roster.floor.period), person key of period \(roster.floor.keyPeriod)"
        return roster.rules.isEmpty ? head : head + "\n" + table.text
    }

    var json: JSONText {
        let rules = roster.rules.map { rule in
            JSONText.object([
                ("pattern", .string(rule.pattern.description)),
                (
                    "writers",
                    .array(
                        rule.grants.sorted { label($0.key) < label($1.key) }.map { writer, rights in
                            .object([
                                ("id", .string(writer.description)), ("label", .string(label(writer))),
                                ("rights", .string(Self.text(rights))),
                            ])
                        })
                ),
            ])
        }
        return .object([
            ("group", .string(roster.group)), ("version", .unsigned(roster.version)), ("file", .string(file)),
            ("teamKey", .string(roster.team.description)),
            ("lowestPeriod", .unsigned(UInt64(roster.floor.period))),
            ("lowestKeyPeriod", .unsigned(UInt64(roster.floor.keyPeriod))), ("rules", .array(rules)),
            ("writers", .array(roster.writers.map(WriterListCommand.json))),
        ])
    }
}
