internal import FoundationEssentials
public import SealedState
internal import Sealing

/// A record of every schema version that was ever written, kept in version control: proof that the type of today still
/// reads what programs of yesterday left behind.
///
/// ```swift
/// let golden = GoldenRecords(directory: "Fixtures/golden")
/// try golden.verify(Account.example, older: [1: .fromV1])     // in every test run
/// ```
///
/// Run the tests once for each schema version with `SEALED_RECORD_GOLDEN=1` in their environment, and commit the file
/// that this makes: `verify` then records the present version where it has no file. Tests that run by themselves must not
/// have it set: there, a file that is missing is a fault. `record` does the same in code.
///
/// A golden record is never made anew for the same version: it stands for data that exists. Its values are made up, for
/// the key it is sealed under is public. Nothing here depends on a test framework; what is wrong is thrown.
public struct GoldenRecords: Sendable {
    /// The directory with a folder for each record.
    public let directory: String
    private let options: StoreOptions
    /// Whether `verify` records the present version where it has no file.
    package var recordsMissing: Bool

    /// Golden records in a directory.
    ///
    /// - Parameters:
    ///   - directory: Its path, empty for the working directory; it is made when something is recorded.
    ///   - options: The store's, for its limits on size and structure.
    public init(directory: String, options: StoreOptions = StoreOptions()) {
        self.directory = directory
        self.options = options
        recordsMissing = Self.isRecording(in: ProcessInfo.processInfo.environment)
    }

    /// Whether an environment asks for missing golden records to be made.
    package static func isRecording(in environment: [String: String]) -> Bool {
        environment["SEALED_RECORD_GOLDEN"] == "1"
    }

    /// Golden records in a directory beside a source file.
    public init(beside file: String = #filePath, _ name: String = "Golden", options: StoreOptions = StoreOptions()) {
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        self.init(directory: folder + name, options: options)
    }

    /// Writes down an example as the golden record of the type's present version.
    ///
    /// Fill every field, optional ones too, and give collections an element: what is not there cannot be compared.
    /// - Throws: `GoldenFault` `.alreadyRecorded` where there is one, `.badExample`, `.file`.
    public func record<Record: SealedRecord>(_ example: Record, as name: String = Record.recordName) throws(GoldenFault)
    {
        let number = try Self.number(of: Record.self, name)
        let version = Record.schemaVersion
        let folder = try GoldenFolder(directory: directory, record: name, version: version)
        guard try folder.file(of: version) == nil else {
            throw GoldenFault(
                .alreadyRecorded, name, version, "\(folder.path(of: version)) exists.",
                advice: "Where the shape has changed, raise schemaVersion and record again; never replace the file.")
        }
        let payload = try GoldenReader(record: name, options: options).payload(of: example)
        let file: GoldenFile
        do {
            file = try GoldenFile(record: name, version: number, codec: Record.format.codec, payload: payload)
        } catch {
            throw GoldenFault(.file, name, version, "Sealing failed: \(error)", advice: "See the reason.")
        }
        try folder.write(file)
    }

    /// Checks the golden records of every version, the present one included.
    ///
    /// - Parameters:
    ///   - example: Today's value of what was recorded in the present version, with every field filled.
    ///   - name: The record's name.
    ///   - isExpected: Whether a version's golden record, read by today's type, is what it should be.
    /// - Throws: `GoldenFault`: `.missing` for a version from the oldest readable one on, `.refused`, `.unexpectedValue`,
    ///   `.shapeChanged` when the example is written in another shape than the present version was, `.badExample`,
    ///   `.damaged`, `.file`.
    public func verify<Record: SealedRecord>(
        _ example: Record, as name: String = Record.recordName, isExpected: (Int, Record) -> Bool
    ) throws(GoldenFault) {
        try verify(example, name) { version, value -> Bool? in isExpected(version, value) }
    }

    /// Checks the golden records of every version against values: the present one against the example, an older one
    /// against its own in `older`.
    ///
    /// - Throws: `GoldenFault`, as above; `.noExpectedValue` for an older version that is read and has no value in `older`.
    public func verify<Record: SealedRecord & Equatable>(
        _ example: Record, as name: String = Record.recordName, older: [Int: Record] = [:]
    ) throws(GoldenFault) {
        try verify(example, name) { version, value -> Bool? in
            (older[version] ?? (version == Record.schemaVersion ? example : nil)).map { $0 == value }
        }
    }

    private func verify<Record: SealedRecord>(
        _ example: Record, _ name: String, _ isExpected: (Int, Record) -> Bool?
    ) throws(GoldenFault) {
        _ = try Self.number(of: Record.self, name)
        let present = Record.schemaVersion
        let folder = try GoldenFolder(directory: directory, record: name, version: present)
        let reader = GoldenReader(record: name, options: options)
        var versions = Set(try folder.versions())
        // The first one that is missing is enough: there may be four billion.
        let oldest = max(1, min(Record.oldestReadableVersion, present))
        if let missing = (oldest...present).first(where: { !versions.contains($0) }) { versions.insert(missing) }
        for version in versions.sorted() {
            if version == present, recordsMissing, try folder.file(of: version) == nil { try record(example, as: name) }
            guard let file = try folder.file(of: version) else { throw reader.missing(version, Record.self, folder) }
            // First the shape: it says which field has changed, where the value says only that something has.
            if version == present { try reader.compareShapes(of: example, with: file) }
            try reader.check(file, isExpected)
        }
    }

    private static func number<Record: SealedRecord>(
        of type: Record.Type, _ name: String
    ) throws(GoldenFault) -> UInt32 {
        if let number = SchemaVersion.number(type.schemaVersion) { return number }
        throw GoldenFault(
            .badExample, name, type.schemaVersion, "A schema version is a number from 1.", advice: SchemaVersion.advice)
    }
}

/// What a test of golden records found, and what to do about it.
public struct GoldenFault: Error, Sendable, CustomStringConvertible {
    /// The kinds of findings; an open set, so a `switch` over it needs a default.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's stable name.
        public let rawValue: String
        /// A code by its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is no golden record of a version that the type says it reads.
        public static let missing = Code(rawValue: "missing")
        /// There is a golden record of that version; it is not made anew.
        public static let alreadyRecorded = Code(rawValue: "alreadyRecorded")
        /// A golden record is refused by the type of today.
        public static let refused = Code(rawValue: "refused")
        /// A golden record reads as another value than expected.
        public static let unexpectedValue = Code(rawValue: "unexpectedValue")
        /// A golden record of an older version is read, and the test does not say as which value.
        public static let noExpectedValue = Code(rawValue: "noExpectedValue")
        /// The type writes another shape than it did when the version was recorded.
        public static let shapeChanged = Code(rawValue: "shapeChanged")
        /// The example itself is refused or does not encode, or its type's name or version cannot be used.
        public static let badExample = Code(rawValue: "badExample")
        /// A golden record's file is not as it was written.
        public static let damaged = Code(rawValue: "damaged")
        /// The file system refused.
        public static let file = Code(rawValue: "file")
    }

    /// What was found, for programs.
    public let code: Code
    /// The record's name.
    public let record: String
    /// The schema version that it is about.
    public let version: Int
    /// What was found, as a sentence.
    public let reason: String
    /// What to do next.
    public let advice: String
    /// The store's error behind it, for `.refused` and `.badExample`.
    public let cause: StoreError?

    init(
        _ code: Code, _ record: String, _ version: Int, _ reason: String, advice: String, cause: StoreError? = nil
    ) {
        self.code = code
        self.record = record
        self.version = version
        self.reason = reason
        self.advice = advice
        self.cause = cause
    }

    /// One line: which record, what, and what to do.
    public var description: String { "\(record), schema version \(version): \(code.rawValue): \(reason) \(advice)" }
}
