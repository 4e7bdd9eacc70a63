internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import FoundationEssentials
internal import KeyVault
internal import SealedState
internal import Sealing

/// `sealctl writer`: manages the programs that sign their records.
struct WriterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "writer",
        abstract: "The writers of a group: their keys, and what becomes of their records.",
        discussion: """
            A writer is a program with a key of its own, by which it signs the records that the group's roster lets it write.
            """,
        subcommands: [
            WriterNewCommand.self, WriterListCommand.self, WriterRetireCommand.self, WriterRevokeCommand.self,
            WriterAdoptCommand.self,
        ])
}

/// `sealctl writer new`: creates a writer's key.
struct WriterNewCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Create a writer key, or print the public half of one.",
        discussion: """
            The file has mode 0600 and is never written over. Printed is the public key, for sealctl roster sign \
            --add-writer. Programs of one unix user can read each other's files: a writer key speaks for one program \
            only where the others run as other users, or where the key is a unit's credential or in a sandbox of its own.

            Examples:
              sealctl writer new /etc/example/app.writer
              sealctl writer new --public /etc/example/app.writer
            """)

    @Flag(help: "The file is there: print its public key only.")
    var `public` = false
    @Flag(help: "Protect the file by a passphrase, which is asked for.")
    var protected = false
    @Option(
        help: ArgumentHelp(
            "Read the passphrase of the file from the first line of FILE; - is standard input.", valueName: "FILE"),
        completion: .file())
    var writerPassphraseFile: String?
    @Argument(help: ArgumentHelp("The writer key's file.", valueName: "file"), completion: .file())
    var file: String
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let phrase = KeyFilePassphrase.writer(writerPassphraseFile)
        let key: WriterKey
        if `public` {
            key = try phrase.opening(file) { passphrase throws(VaultError) in
                try WriterKey(contentsOf: file, passphrase: passphrase)
            }
        } else {
            let protection = try phrase.protection(
                of: file, isUnprotected: !protected && writerPassphraseFile == nil)
            key = try Failure.onVault { () throws(VaultError) in
                let key = try WriterKey.random()
                try key.write(to: file, protectedBy: protection)
                return key
            }
            ConsoleMessages.note("other programs of this unix user can read \(file.printable) and sign as this writer.")
        }
        let fields: [(String, JSONText)] = [
            ("file", .string(file)), ("publicKey", .string(key.publicKey.description)),
            ("id", .string(key.id.description)),
        ]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : key.publicKey.description)
    }
}

/// `sealctl writer list`: lists the writers of the roster.
struct WriterListCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the writers of the roster that counts.",
        discussion: """
            STATE is active, retired (the records that the roster lists stay valid) or revoked (none is valid).

            Examples:
              sealctl writer list --group group.com.example.app
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let roster = try RosterPlace(groupOptions).roster().roster
        if output.json {
            return try StandardStreams.print(JSONText.array(roster.writers.map(Self.json)).text)
        }
        var table = TextTable([.init(title: "WRITER"), .init(title: "STATE"), .init(title: "ID"), .init(title: "KEY")])
        for writer in roster.writers.sorted(by: { $0.label < $1.label }) {
            table.add([
                writer.label.printable, "\(writer.state)", writer.id.description, writer.publicKey.description,
            ])
        }
        try StandardStreams.print(table.text)
    }

    static func json(_ writer: Roster.Writer) -> JSONText {
        .object([
            ("label", .string(writer.label)), ("state", .string("\(writer.state)")),
            ("id", .string(writer.id.description)), ("publicKey", .string(writer.publicKey.description)),
            ("retained", .unsigned(UInt64(writer.retained.count))),
        ])
    }
}

/// `sealctl writer retire`: ends a writer's rights and keeps its records valid.
struct WriterRetireCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "End a writer; the records that it has in the container now stay valid.",
        discussion: """
            The next version of the roster lists each record of the writer that readers accept now. Every other one that it \
            ever signed is refused from then on. It asks first, and names the patterns that the writer loses; --yes \
            answers.

            Examples:
              sealctl writer retire app-1 --team-key team.key
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup var keys: TeamKeyOptions
    @Argument(help: "The writer's label, id or public key.")
    var writer: String
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let place = try RosterPlace(groupOptions)
        let store = try keyOptions.openStore(of: place.group)
        let roster = try place.roster().roster
        let former = try roster.writer(named: writer)
        let key = try keys.open()
        func next(_ retained: Set<Roster.RetainedRecord>) throws(Failure) -> SignedRoster {
            try place.next(
                { roster throws(Failure) in
                    var ended = try roster.writer(named: writer)
                    ended.state = .retired
                    ended.retained = retained
                    roster.set(ended)
                }, with: key)
        }
        let shown = try Self.records(of: former.id, in: store)
        try RosterLoss(from: roster, to: try next(shown)).confirm(
            "retire the writer \(former.label) of \(place.group)", confirmation,
            losses: ["Nothing that it signs from then on is valid; \(shown.count) records of it stay valid."]
        ) { () throws(Failure) in store }
        // The writer may have written more records while the person read the question.
        let retained = try Self.records(of: former.id, in: store)
        let signed = try next(retained)
        try place.put(signed)
        let fields: [(String, JSONText)] = [
            ("version", .unsigned(signed.roster.version)), ("retained", .unsigned(UInt64(retained.count))),
        ]
        try StandardStreams.print(
            output.json
                ? JSONText.object(fields).text
                : "retired in version \(signed.roster.version); \(retained.count) records stay valid")
    }

    /// Returns the writer's records that readers accept.
    ///
    /// - Throws: `Failure` if a record is locked, because it may be the writer's and could not be kept.
    private static func records(
        of id: WriterID, in store: SealedStore
    ) throws(Failure) -> Set<Roster.RetainedRecord> {
        let listed = try Failure.onStore { () throws(StoreError) in try store.list(includingReserved: true) }
        let locked = listed.filter { $0.rejection?.code == .locked }.map(\.name)
        guard locked.isEmpty else {
            throw Failure(
                .locked, "locked",
                "cannot list the writer's records: \(Affected.list(locked, orElse: "")) "
                    + "\(locked.count == 1 ? "is" : "are") locked",
                hint: "Unlock the vault (sealctl vault unlock), so that what the writer has there stays valid.")
        }
        var retained: Set<Roster.RetainedRecord> = []
        for record in listed where record.rejection == nil && record.provenance?.writer == id.description {
            if let (writer, kept) = try? store.retainedRecord(named: record.name), writer == id {
                retained.insert(kept)
            }
        }
        return retained
    }
}

/// `sealctl writer revoke`: invalidates everything that a writer signed.
struct WriterRevokeCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Make every record of a writer invalid: its key was stolen.",
        discussion: """
            Readers refuse what it signed, before and after. It asks first and lists the records that become unreadable; \
            --yes answers. What is still wanted is written anew under another writer: sealctl writer adopt.

            Examples:
              sealctl writer revoke widget --team-key team.key --yes
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup var keys: TeamKeyOptions
    @Argument(help: "The writer's label, id or public key.")
    var writer: String
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let place = try RosterPlace(groupOptions)
        let roster = try place.roster().roster
        let next = try place.next(
            { roster throws(Failure) in
                var ended = try roster.writer(named: writer)
                ended.state = .revoked
                ended.retained = []
                roster.set(ended)
            }, with: keys.open())
        let store = try keyOptions.openStore(of: place.group)
        let lost = try RosterLoss.records(refusedBy: next, in: store)
        try RosterLoss(from: roster, to: next).confirm(
            "revoke the writer \(try roster.writer(named: writer).label) of \(place.group)", confirmation,
            losses: ["Nothing that it has signed or signs from then on is valid."]
        ) { () throws(Failure) in store }
        try place.put(next)
        let fields: [(String, JSONText)] = [
            ("version", .unsigned(next.roster.version)), ("unreadable", .array(lost.map { .string($0) })),
        ]
        try StandardStreams.print(
            output.json
                ? JSONText.object(fields).text
                : "revoked in version \(next.roster.version); \(lost.count) records are unreadable")
    }
}

/// `sealctl writer adopt`: signs a record again under another writer.
struct WriterAdoptCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Write a record anew under another writer, contents and expiry unchanged.",
        discussion: """
            Look at the record first (sealctl inspect): with the new signature this writer vouches for it. A record that \
            readers refuse, because its writer was revoked or nobody with the right has signed it, is adopted with \
            --yes only.

            Examples:
              sealctl writer adopt accounts/ada --writer-key app.writer --yes
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "The record's name.", completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var name: String
    @Flag(help: "Adopt it although readers refuse it.")
    var yes = false
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let store = try keyOptions.openStore(of: try groupOptions.appGroup())
        let sequence = try Failure.onStore { () throws(StoreError) in try adopt(in: store) }
        let fields: [(String, JSONText)] = [("name", .string(name)), ("sequence", .unsigned(sequence))]
        try StandardStreams.print(
            output.json ? JSONText.object(fields).text : "\(name) adopted, sequence \(sequence)")
    }

    private func adopt(in store: SealedStore) throws(StoreError) -> UInt64 {
        do throws(StoreError) { _ = try store.openPayload(named: name) } catch {
            guard error.isRejection, yes else { throw error }
        }
        let opened = try store.openUnjudged(named: name)
        let header = opened.header.header
        guard !header.flags.contains(.tombstone) else {
            throw StoreError(.absent, "adopt", name, "It was deleted.")
        }
        let payload = RecordPayload(
            opened.plaintext.withUnsafeBytes { Data($0) }, codec: header.codec, schemaVersion: header.schemaVersion,
            notAfter: header.notAfter, protection: store.reader.keys.protection(of: header))
        defer { payload.wipe() }
        return try store.write(payload: payload, named: name)
    }
}
