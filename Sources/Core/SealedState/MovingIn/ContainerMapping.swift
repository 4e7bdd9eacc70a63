/// What becomes of files of a plaintext container, by their paths below it, `/`-separated; `.` and empty segments are dropped.
public struct ContainerMapping: Sendable {
    /// The record that one file becomes.
    public struct Rule: Sendable {
        /// The record's name.
        public var record: String
        /// The version of the record's type that reads it. 1 unless stated.
        public var schemaVersion: UInt32
        /// The keys whose numbers are dates; see `MovingIn.record`.
        public var dates: Set<String>
        /// What opens it, where it was sealed with AES-256-GCM; nil for plaintext.
        public var key: MovingInKey?

        /// A rule for one file.
        public init(record: String, schemaVersion: UInt32 = 1, dates: Set<String> = [], key: MovingInKey? = nil) {
            self.record = record
            self.schemaVersion = schemaVersion
            self.dates = dates
            self.key = key
        }

        var plan: RecordPlan { RecordPlan(name: record, schemaVersion: schemaVersion, dates: dates, key: key) }
    }

    /// The records that files become.
    public var rules: [String: Rule]
    /// The suites that property lists become, also where a file's name is none of a suite.
    public var suites: [String: String] = [:]
    /// Files, and directories with all that they hold, that stay as they are.
    public var left: Set<String> = []

    /// A mapping with these rules.
    public init(_ rules: [String: Rule] = [:]) { self.rules = rules }
}
