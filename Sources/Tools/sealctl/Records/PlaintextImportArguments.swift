internal import ArgumentParser
internal import AuditReports
internal import SealedState
internal import StateImport

/// The options for the import of plaintext.
struct PlaintextImportArguments: ParsableArguments {
    @Flag(help: "Keep the plaintext.")
    var keepSource = false
    @Flag(help: "Replace an existing target that differs.")
    var replace = false
    @Flag(help: "Show the changes, and make none.")
    var dryRun = false

    /// - Parameter spared: The files that the command itself reads.
    func options(excluding excluded: [String?] = []) -> PlaintextImportOptions {
        var options = PlaintextImportOptions()
        options.excluded = Set(excluded.compactMap { $0 })
        options.keepsSource = keepSource
        options.replacesTarget = replace
        options.isDryRun = dryRun
        return options
    }
}

extension KeyOptions {
    /// The files that open the vault.
    var files: [String?] { [passphraseFile, keyFile, identity] }
}

/// The record that a file becomes.
struct RecordOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The version of the record's type, 1 or more; 1 unless stated.", valueName: "N"),
        transform: Self.version)
    var schemaVersion: UInt32?
    @Option(
        help: ArgumentHelp(
            "A field of the JSON whose number is a date: seconds since 2001 (also FIELD=reference), FIELD=unix for "
                + "seconds and FIELD=unix-ms for milliseconds since 1970. May be given several times.",
            valueName: "FIELD"),
        transform: { try RecordDate($0) })
    var date: [RecordDate] = []
    @Option(
        help: ArgumentHelp(
            "A field whose number looks like a date and stays a number. May be given several times.",
            valueName: "FIELD"))
    var number: [String] = []
    @Option(
        help: ArgumentHelp(
            "Import only if the fields, types and dates are those of a golden record, or of JSON that the program "
                + "encodes.", valueName: "FILE"), completion: .file())
    var checkWith: String?

    func validate() throws {
        guard !date.contains(where: \.field.isEmpty), !number.contains("") else {
            throw ValidationError("Name a field with --date and --number.")
        }
        if let twice = RecordDate.fieldWithTwoUnits(date) {
            throw ValidationError("Give --date \(twice) once: it is stated in different units.")
        }
        if let twice = date.first(where: { number.contains($0.field) }) {
            throw ValidationError("Give one of --date \(twice.field) and --number \(twice.field).")
        }
    }

    /// Nothing is stated about the record.
    var isPlain: Bool { schemaVersion == nil && date.isEmpty && number.isEmpty && checkWith == nil }

    /// The version of the record's type.
    var statedVersion: UInt32 { schemaVersion ?? 1 }

    var conversion: RecordConversion {
        RecordConversion(dates: RecordDate.fields(date), numbers: Set(number), golden: checkWith)
    }

    private static func version(_ argument: String) throws -> UInt32 {
        guard let version = UInt32(argument), version > 0 else {
            throw ValidationError("a schema version is a whole number from 1 to \(UInt32.max)")
        }
        return version
    }
}

/// A field whose numbers are dates, with their unit: `expiresAt`, `expiresAt=unix`, `expiresAt=unix-ms`.
struct RecordDate {
    let field: String
    let epoch: RecordConversion.Epoch

    init(_ argument: String) throws(ValidationError) {
        guard let sign = argument.lastIndex(of: "=") else {
            (field, epoch) = (argument, .reference)
            return
        }
        guard let epoch = RecordConversion.Epoch(rawValue: String(argument[argument.index(after: sign)...])) else {
            let words = RecordConversion.Epoch.allCases.map { "FIELD=\($0.rawValue)" }
            throw ValidationError("a date is FIELD or one of \(words.joined(separator: ", "))")
        }
        self.epoch = epoch
        field = String(argument[..<sign])
    }

    /// Returns a field that is stated in different units, if there is one.
    static func fieldWithTwoUnits(_ dates: [RecordDate]) -> String? {
        dates.first { one in dates.contains { $0.field == one.field && $0.epoch != one.epoch } }?.field
    }

    /// Returns the units by field.
    static func fields(_ dates: [RecordDate]) -> [String: RecordConversion.Epoch] {
        Dictionary(dates.map { ($0.field, $0.epoch) }) { _, last in last }
    }
}

/// The import of one file: opens the store, moves the file and reports the result.
struct FileMove {
    let groupOptions: GroupOptions
    let keyOptions: KeyOptions
    let moving: PlaintextImportArguments
    let output: OutputOptions
    var sealsAgain = false

    func run(_ body: (PlaintextImporter) throws(StoreError) -> MovedItem) throws(Failure) {
        let store = try keyOptions.openStore(of: try groupOptions.appGroup())
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        var options = moving.options(excluding: keyOptions.files)
        options.sealsAgain = sealsAgain
        let item: MovedItem
        do throws(StoreError) { item = try body(PlaintextImporter(to: store, options: options)) } catch {
            throw Failure(moving: error)
        }
        let view = MovedItemView(item)
        try StandardStreams.print(output.json ? view.json.text : view.text)
        if case .gone = item.outcome {
            throw Failure(
                .noInput, "sourceGone", "\(item.source.printable) does not exist",
                hint: "If an earlier command has imported it, nothing needs to be done; otherwise name the right file.")
        }
    }
}

extension Failure {
    /// Creates a failure of a move. An existing record is a duplicate, as in `put --if-absent`. Advice about records is
    /// left out if the fault is in a file of the user.
    init(moving error: StoreError) {
        let failure = Failure(error)
        guard error.code == .conflict else {
            let isOwn = error.cause == nil || error.code == .sourceChanged
            self.init(failure.status, failure.code, failure.message, hint: isOwn ? error.advice : failure.hint)
            return
        }
        self.init(
            .duplicate, failure.code, failure.message,
            hint: "Compare both; then remove one of them, or run it with --replace.")
    }
}
