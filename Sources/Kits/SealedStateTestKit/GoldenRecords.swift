public import FoundationEssentials
public import SealedState
internal import Sealing

/// A record of every schema version ever written, kept in version control. It proves that the current type still reads
/// the data of earlier programs.
///
/// ```swift
/// let golden = GoldenRecords(directory: "Fixtures/golden")
/// try golden.verify(Account.example, older: [1: .fromV1])     // in every test run
/// ```
///
/// Run the tests once for each schema version with `SEALED_RECORD_GOLDEN=1` in their environment, and commit the new
/// file: `verify` then records the current version if it has no file. Automated test runs must not set it, so that a
/// missing file is a fault. `record` does the same in code.
///
/// A golden record is never replaced for the same version, because it represents existing data. Its values are made up,
/// because its sealing key is public. The type does not depend on a test framework; it throws all faults.
public struct GoldenRecords: Sendable {
    /// The directory with a folder for each record.
    public let directory: String
    private let options: StoreOptions
    /// True if `verify` records the current version if it has no file.
    package var recordsMissing: Bool

    /// Creates golden records in a directory.
    ///
    /// - Parameters:
    ///   - directory: The path, empty for the working directory. Recording creates the directory.
    ///   - options: The store's options, for the limits on size and structure.
    public init(directory: String, options: StoreOptions = StoreOptions()) {
        self.directory = directory
        self.options = options
        recordsMissing = Self.isRecording(in: ProcessInfo.processInfo.environment)
    }

    /// Returns whether an environment requests the recording of missing golden records.
    package static func isRecording(in environment: [String: String]) -> Bool {
        environment["SEALED_RECORD_GOLDEN"] == "1"
    }

    /// Creates golden records in a directory beside a source file.
    public init(beside file: String = #filePath, _ name: String = "Golden", options: StoreOptions = StoreOptions()) {
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        self.init(directory: folder + name, options: options)
    }

    /// Records an example as the golden record of the type's current version.
    ///
    /// Fill every field, including optional ones, and give collections an element: absent fields cannot be compared.
    /// - Throws: `GoldenFault` `.alreadyRecorded` if a record exists, `.badExample`, `.file`.
    public func record<Record: SealedRecord>(_ example: Record, as name: String = Record.recordName) throws(GoldenFault)
    {
        let number = try Self.number(of: Record.self, name)
        let version = Record.schemaVersion
        let folder = try GoldenFolder(directory: directory, record: name, version: version)
        guard try folder.file(of: version) == nil else {
            throw GoldenFault(
                .alreadyRecorded, name, version, "\(folder.path(of: version)) exists.",
                advice: "If the shape has changed, raise schemaVersion and record again; never replace the file.")
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

    /// Checks the golden records of every version, including the current one.
    ///
    /// - Parameters:
    ///   - example: The current value of the record of the current version, with every field filled.
    ///   - name: The record's name.
    ///   - isExpected: Returns whether a version's golden record, read by the current type, has the expected value.
    /// - Throws: `GoldenFault`: `.missing` for a version from the oldest readable one on, `.refused`,
    ///   `.unexpectedValue`, `.shapeChanged` if the example has another shape than the record of the current version,
    ///   `.badExample`, `.damaged`, `.file`.
    public func verify<Record: SealedRecord>(
        _ example: Record, as name: String = Record.recordName, isExpected: (Int, Record) -> Bool
    ) throws(GoldenFault) {
        try verify(example, name) { version, value -> Bool? in isExpected(version, value) }
    }

    /// Checks the golden records of every version against values: the current one against the example, an older one
    /// against its own in `older`.
    ///
    /// - Throws: `GoldenFault`, as above; `.noExpectedValue` for an older version that is read and has no value in
    ///   `older`.
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
        // Only the first missing version is added, because there may be four billion.
        let oldest = max(1, min(Record.oldestReadableVersion, present))
        if let missing = (oldest...present).first(where: { !versions.contains($0) }) { versions.insert(missing) }
        for version in versions.sorted() {
            if version == present, recordsMissing, try folder.file(of: version) == nil { try record(example, as: name) }
            guard let file = try folder.file(of: version) else { throw reader.missing(version, Record.self, folder) }
            // The shape comes first: it names the changed field, while the value shows only that a field changed.
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

/// A fault in golden records, with advice.
public struct GoldenFault: LocalizedError, Sendable, CustomStringConvertible {
    /// The kinds of faults; an open set, so a `switch` over it needs a default.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name.
        public let rawValue: String
        /// Creates a code from its stable name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code's name.
        public var description: String { rawValue }
        /// Returns `true` for an error with this code. It makes the code a pattern: `catch GoldenFault.Code.missing`.
        public static func ~= (code: Self, error: any Error) -> Bool { (error as? GoldenFault)?.code == code }

        /// The golden record of a readable version is missing.
        public static let missing = Code(rawValue: "missing")
        /// The golden record of that version exists and is not replaced.
        public static let alreadyRecorded = Code(rawValue: "alreadyRecorded")
        /// The current type refuses a golden record.
        public static let refused = Code(rawValue: "refused")
        /// A golden record reads as another value than expected.
        public static let unexpectedValue = Code(rawValue: "unexpectedValue")
        /// The golden record of an older version is read, but the test gives no expected value.
        public static let noExpectedValue = Code(rawValue: "noExpectedValue")
        /// The type writes another shape than when the version was recorded.
        public static let shapeChanged = Code(rawValue: "shapeChanged")
        /// The example is refused or does not encode, or its type's name or version is invalid.
        public static let badExample = Code(rawValue: "badExample")
        /// A golden record's file was changed.
        public static let damaged = Code(rawValue: "damaged")
        /// The file system reported an error.
        public static let file = Code(rawValue: "file")
    }

    /// The kind of the fault, for programs.
    public let code: Code
    /// The record's name.
    public let record: String
    /// The schema version of the golden record.
    public let version: Int
    /// The fault as a sentence.
    public let reason: String
    /// The advice.
    public let advice: String
    /// The underlying error of the store, for `.refused` and `.badExample`.
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

    /// The fault as one line: record, version, kind, reason and advice.
    public var description: String { "\(record), schema version \(version): \(code.rawValue): \(reason) \(advice)" }

    /// Record, version and fault in one line: the error's `localizedDescription`.
    public var errorDescription: String? { "\(record), schema version \(version): \(reason)" }

    /// The fault as a sentence.
    public var failureReason: String? { reason }

    /// The advice.
    public var recoverySuggestion: String? { advice }
}
