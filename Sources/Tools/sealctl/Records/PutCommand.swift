internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import PropertyLists
internal import SealedState
internal import Sealing
internal import SharedFiles

/// `sealctl put`: seals JSON as a record.
struct PutCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Seal JSON as a record, and replace the record of that name.",
        discussion: """
            The JSON is stored byte for byte. A program whose record type has that name and schema version can read \
            it. A record keeps the protection of the record that it replaces, unless --accessible is given. A new \
            record is available when unlocked if only persons open the vault, and after the first unlock otherwise.

            Examples:
              sealctl put widget_auth_state state.json --expires-in 1h
              jq '.user' account.json | sealctl put accounts/ada - --schema-version 2
              sealctl put counter counter.json --if-sequence 41
              sealctl put token token.json --accessible when-unlocked
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: "The record's name, such as accounts/ada.",
        completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var name: String
    @Argument(help: "The JSON; - is standard input.", completion: .file())
    var file: String
    @Option(
        // Unconditional: -1 is a wrong number, not an option.
        parsing: .unconditional, help: ArgumentHelp("The version of the record's type, 1 or more.", valueName: "N"),
        transform: Self.version)
    var schemaVersion: UInt32 = 1
    @OptionGroup var writing: WriteOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    static func version(_ argument: String) throws -> UInt32 {
        guard let version = UInt32(argument), version > 0 else {
            throw ValidationError("a schema version is a whole number from 1 to \(UInt32.max)")
        }
        return version
    }

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        _ = try Failure.onStore { () throws(StoreError) in try RecordName(name) }
        let input = try InputFile(file)
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let payload = try Self.payload(
            input, store.options, schemaVersion, writing.expiresIn, writing.accessible?.protection)
        defer { payload.wipe() }
        let sequence = try write(payload, to: store)
        try WriteOptions.report(sequence, of: name, asJSON: output.json)
    }

    private func write(_ payload: RecordPayload, to store: SealedStore) throws(Failure) -> UInt64 {
        do throws(StoreError) {
            return try store.write(payload: payload, named: name, onlyIf: writing.condition)
        } catch {
            let failure = writing.failure(error)
            guard error.code == .tooNew else { throw failure }
            throw Failure(
                failure.status, failure.code, failure.message,
                hint: "If the JSON is of the newer version, name that: --schema-version N.")
        }
    }

    /// Reads JSON that a person or another program gives.
    static func payload(
        _ input: InputFile, _ options: StoreOptions, _ schemaVersion: UInt32, _ lifetime: Lifetime?,
        _ protection: ProtectionClass?
    ) throws(Failure) -> RecordPayload {
        let limit = options.maximumRecordSize
        let limits = options.structureLimits
        let (json, excess) = try input.withContents(limit: limit) { bytes throws(Failure) in
            guard bytes.count <= limit else {
                throw Failure(
                    .dataError, "tooLarge", "cannot put \(input.name): it has more than \(limit) bytes",
                    hint: "Seal it as a file (sealctl file put), or raise the limit: sealctl container record-limit.")
            }
            let excess = try check(bytes, input.name, limits, options)
            return (Data(bytes), excess)
        }
        return RecordPayload(
            json, codec: .json, schemaVersion: schemaVersion,
            notAfter: lifetime.map { Timestamp.now.milliseconds + $0.seconds * 1000 } ?? 0, protection: protection,
            mayLowerClass: true, scan: RecordPayload.Scan(limits, excess: excess))
    }

    private static func check(
        _ json: UnsafeRawBufferPointer, _ name: String, _ limits: StructureLimits, _ options: StoreOptions
    ) throws(Failure) -> StructureFault? {
        do throws(JSONFault) {
            return try JSONChecker.checkInput(json, against: limits, maximumDepth: options.maximumDepth)
        } catch {
            throw Failure(
                .dataError, "notJSON",
                "cannot put \(name): line \(error.line), column \(error.column) (byte \(error.offset)): \(error.reason)",
                hint: "Records are JSON: correct the text there.")
        }
    }
}

/// The options of a write: of a record, or of a sealed file.
struct WriteOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("When it expires: 30s, 15m, 1h, 2d or 1w from now.", valueName: "TIME"),
        transform: Lifetime.init(parsing:))
    var expiresIn: Lifetime?
    @Option(
        help: ArgumentHelp(
            "When it can be read: after-first-unlock or when-unlocked; as what it replaces unless stated.",
            valueName: "WHEN"))
    var accessible: ProtectionWord?
    @Flag(help: "Write only if the name is free, or what had it was deleted.")
    var ifAbsent = false
    @Option(
        // Unconditional: -1 is a wrong number, not an option.
        parsing: .unconditional,
        help: ArgumentHelp("Write only if that sequence is stored, as list and put print it.", valueName: "N"))
    var ifSequence: UInt64?

    func validate() throws {
        guard !ifAbsent || ifSequence == nil else {
            throw ValidationError("--if-absent and --if-sequence exclude each other")
        }
    }

    var condition: WriteCondition {
        ifAbsent ? .absent : ifSequence.map { .sequence($0) } ?? .always
    }

    /// Returns the failure of a write: a taken name is a duplicate only with `--if-absent`.
    func failure(_ error: StoreError) -> Failure {
        let failure = Failure(error)
        guard ifAbsent, error.code == .conflict else { return failure }
        return Failure(.duplicate, failure.code, failure.message, hint: failure.hint)
    }

    static func report(_ sequence: UInt64, of name: String, asJSON isJSON: Bool) throws(Failure) {
        let fields: [(String, JSONText)] = [("name", .string(name)), ("sequence", .unsigned(sequence))]
        try StandardStreams.print(isJSON ? JSONText.object(fields).text : "\(name) sequence \(sequence)")
    }
}
