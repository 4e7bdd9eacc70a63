internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState
internal import Sealing

/// `sealctl roster sign`: signs the next version of the roster.
struct RosterSignCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Change the roster and sign its next version.",
        discussion: """
            A pattern is a record's name, whole segments followed by /*, or * for every name. The longest matching \
            pattern governs a name; every program with the group's keys may write a name without a pattern. RIGHTS are \
            write, delete or both; both unless stated. The command names the writers and records of a change that \
            removes a writer's right, or by which readers refuse records that they accept now, and asks first, as it \
            does for another team key and a lower lowest period; --yes skips the question. With --dry-run it signs \
            nothing and lists those records. If the team key has certified the vault (sealctl vault certify), the \
            roster ends the vault's periods before the one that this user's programs have seen; --lowest-period states \
            another one.

            Examples:
              sealctl roster sign --team-key t.key --add-writer app=sealedwriter1...
              sealctl roster sign --team-key t.key --allow 'accounts/*=app'
              sealctl roster sign --team-key t.key --allow in=widget:write --dry-run
              sealctl roster sign --team-key t.key --succeeded-by next.key
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup var keys: TeamKeyOptions
    @Option(help: ArgumentHelp("Add a writer by its label and public key.", valueName: "LABEL=KEY"))
    var addWriter: [String] = []
    @Option(help: ArgumentHelp("Allow a writer to write a pattern's records.", valueName: "PATTERN=WRITER[:RIGHTS]"))
    var allow: [String] = []
    @Option(help: ArgumentHelp("Remove a writer's rights to a pattern.", valueName: "PATTERN=WRITER"))
    var deny: [String] = []
    @Option(help: ArgumentHelp("Remove the pattern's rule.", valueName: "PATTERN"))
    var ungovern: [String] = []
    @Option(
        help: ArgumentHelp("Name the team key in FILE as the next one, which signs from now on.", valueName: "FILE"),
        completion: .file())
    var succeededBy: String?
    @Option(
        help: ArgumentHelp(
            "The lowest period of the vault that readers accept, instead of the present one; 0 for any.",
            valueName: "N"))
    var lowestPeriod: UInt32?
    @Flag(help: "Sign nothing; list the records that would become unreadable.")
    var dryRun = false
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let place = try RosterPlace(groupOptions)
        let key = try keys.open()
        var signer = key
        if let path = succeededBy {
            signer = try KeyFilePassphrase.team(keys.teamPassphraseFile).opening(path) { phrase throws(VaultError) in
                try TeamKey(contentsOf: path, passphrase: phrase)
            }
        }
        let next = try place.next(
            { roster throws(Failure) in
                try change(&roster, in: place)
                guard succeededBy != nil else { return }
                roster = try Failure.onVault { () throws(VaultError) in
                    try roster.succeeded(by: signer.publicKey, naming: key)
                }
            }, with: signer)
        if dryRun {
            let lost = try RosterLoss.records(refusedBy: next, in: try keyOptions.openStore(of: place.group))
            return try StandardStreams.print(
                output.json ? JSONText.array(lost.map { .string($0) }).text : lost.joined(separator: "\n"))
        }
        let present = try place.roster().roster
        try RosterLoss(from: present, to: next).confirm(
            "sign version \(next.roster.version) of the roster of \(place.group)", confirmation,
            losses: Self.losses(from: present, to: next.roster)
        ) { () throws(Failure) in try keyOptions.openStore(of: place.group) }
        try place.put(next)
        try StandardStreams.print(
            output.json
                ? JSONText.object([("version", .unsigned(next.roster.version))]).text
                : "version \(next.roster.version) signed")
    }

    /// Returns the losses by a change of the roster's own fields.
    private static func losses(from present: Roster, to next: Roster) -> [String] {
        var losses: [String] = []
        if next.team != present.team {
            losses.append(
                "The team key \(next.team) replaces \(present.team), whose holders then cannot sign rosters or "
                    + "certify vaults any more.")
        }
        if next.floor.isBelow(present.floor) {
            let (old, new) = (present.floor, next.floor)
            losses.append(
                "Readers that have not seen the vault's later periods accept it again from period \(new.period) and person "
                    + "key period \(new.keyPeriod) on, with its former slots, not from \(old.period) and "
                    + "\(old.keyPeriod) on.")
        }
        return losses
    }

    /// Refuses a period that no program has seen, because it would end every existing vault.
    private func checked(
        _ period: UInt32, _ team: TeamPublicKey, _ place: RosterPlace
    ) throws(Failure) -> UInt32 {
        let seen = place.certifiedState(by: team)?.period ?? 0
        guard period <= seen else {
            throw Failure(
                .dataError, "periodNotSeen",
                seen == 0
                    ? "this user's programs have seen no vault of \(place.group) that a team key has certified"
                    : "this user's programs have seen period \(seen) of the vault of \(place.group), none later",
                hint: seen == 0
                    ? "Certify it first: sealctl vault certify --team-key FILE." : "Give a period up to \(seen).")
        }
        return period
    }

    private func change(_ roster: inout Roster, in place: RosterPlace) throws(Failure) {
        if let lowestPeriod {
            let period = try checked(lowestPeriod, roster.team, place)
            roster.floor = VaultFloor(period: period, keyPeriod: min(roster.floor.keyPeriod, period))
        }
        for text in addWriter {
            let (label, key) = try Self.parts(text, "LABEL=KEY")
            let publicKey = try Failure.onVault { () throws(VaultError) in try WriterPublicKey(key) }
            guard label.utf8.count <= Roster.maximumLabelSize, roster.writer(publicKey.id) == nil else {
                throw Failure(
                    .dataError, "writerExists", "the writer is in the roster, or its label is too long",
                    hint: "See the writers: sealctl writer list.")
            }
            roster.set(Roster.Writer(publicKey, label: label))
        }
        for text in allow {
            let (pattern, rest) = try Self.parts(text, "PATTERN=WRITER[:RIGHTS]")
            let words = rest.split(separator: ":", maxSplits: 1).map(String.init)
            let rights = words.count == 2 ? try Self.rights(words[1]) : .all
            try Self.grant(rights, pattern, words[0], &roster)
        }
        for text in deny {
            let (pattern, writer) = try Self.parts(text, "PATTERN=WRITER")
            try Self.grant([], pattern, writer, &roster)
        }
        for text in ungovern { roster.remove(try Self.pattern(text)) }
    }

    private static func grant(
        _ rights: Roster.Rights, _ text: String, _ writer: String, _ roster: inout Roster
    ) throws(Failure) {
        let pattern = try pattern(text)
        var rule = roster.rules.first { $0.pattern == pattern } ?? Roster.Rule(pattern, grants: [:])
        let id = try roster.writer(named: writer).id
        rule.grants[id] = rights.isEmpty ? nil : rights
        roster.set(rule)
    }

    private static func pattern(_ text: String) throws(Failure) -> GovernedPattern {
        try Failure.onVault { () throws(VaultError) in try GovernedPattern(text) }
    }

    private static func rights(_ text: String) throws(Failure) -> Roster.Rights {
        switch text {
        case "write": return .write
        case "delete": return .delete
        case "write,delete", "delete,write": return .all
        default: throw Failure(.usage, "usage", "\(text.printable) is not a right", hint: "Give write, delete or both.")
        }
    }

    private static func parts(_ text: String, _ form: String) throws(Failure) -> (String, String) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw Failure(.usage, "usage", "\(text.printable) does not have the form \(form)", hint: "Give \(form).")
        }
        return (parts[0], parts[1])
    }
}
