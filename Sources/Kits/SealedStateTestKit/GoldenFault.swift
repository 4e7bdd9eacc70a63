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
