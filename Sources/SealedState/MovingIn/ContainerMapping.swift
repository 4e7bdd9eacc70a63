/// Which files of a plaintext container become records, by their paths below it, `/`-separated.
public struct ContainerMapping: Sendable {
    /// What one file becomes.
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

    /// The rules by path.
    public var rules: [String: Rule]

    /// A mapping with these rules.
    public init(_ rules: [String: Rule] = [:]) { self.rules = rules }
}
