/// The checks of a read, in the order in which they run: the cheapest and least trusting first.
///
/// Each has its own rejections (`StoreError.Code.check`); the first one that fails is the answer.
public enum ReadCheck: String, CaseIterable, Comparable, Sendable {
    /// The file is no larger than the store reads.
    case size
    /// A regular file, with the header and the length of a sealed blob of a known format.
    case shape
    /// Sealed for this group, this kind and this name.
    case place
    /// The vault holds its key, for its suite, and can use it now.
    case key
    /// The vault has the same epoch for that key.
    case epoch
    /// The header was written under that key and is unchanged.
    case commitment
    /// No completed rotation has retired its key.
    case retirement
    /// The contents are unchanged since they were sealed.
    case contents
    /// A writer with the right has signed it, if the group's roster governs its name.
    case authority
    /// The blob is neither behind the accepted state, nor beside it, nor too far ahead.
    case order
    /// The type reads its schema version.
    case version
    /// Its nesting and its number of values are safe to decode.
    case structure
    /// The contents decode as the type.
    case decoding
    /// The steps from an older version to the present one succeed.
    case migration
    /// The value has not expired and is not from the future.
    case freshness
    /// The record's own rules hold.
    case rules

    /// The condition that passes the check, in a few words.
    public var meaning: String { Self.meanings[self] ?? "" }

    /// The check needs the record's type, so tools that know only the name cannot make it.
    public var needsType: Bool { [.version, .decoding, .migration, .rules].contains(self) }

    /// Earlier checks are smaller.
    public static func < (left: ReadCheck, right: ReadCheck) -> Bool { left.position < right.position }

    private var position: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    private static let meanings: [ReadCheck: String] = [
        .size: "no larger than the store's limit",
        .shape: "a regular file with the shape of a sealed blob of a known format",
        .place: "sealed for this group, kind and name",
        .key: "the vault holds its key for its suite, and the key is available",
        .epoch: "the vault has the same epoch for that key",
        .commitment: "the header is authentic under that key",
        .retirement: "no completed rotation has retired its key",
        .contents: "the contents are authentic",
        .authority: "signed by a writer with the right, where the roster governs its name",
        .order: "not of a former container, not older than the accepted state, "
            + "not a different blob of the same sequence, not too far ahead",
        .version: "a schema version that the type reads",
        .structure: "nesting and number of values are within the limits",
        .decoding: "it decodes as the type",
        .migration: "the migration steps from an older version succeed",
        .freshness: "not expired, and not sealed in the future",
        .rules: "the record's own rules are satisfied",
    ]
}

/// The outcome of each check of a read, for tools that explain a rejection.
package struct ReadExamination: Sendable {
    package enum Outcome: String, Sendable {
        /// The check passed.
        case ok
        /// The check failed, and the blob is refused for it.
        case refused
        /// The check could not be made: the vault is locked.
        case locked
        /// An earlier check was the last one.
        case notReached
        /// Only a program that has the record's type can make the check.
        case needsType
    }

    /// The rejection of the record, or `.locked`; nil if every check that needs no type passed.
    package let error: StoreError?

    /// Returns the outcome of a check.
    package func outcome(of check: ReadCheck) -> Outcome {
        if let error, let end = error.code.check {
            if check == end { return error.isRejection ? .refused : .locked }
            if check > end { return .notReached }
        }
        return check.needsType ? .needsType : .ok
    }
}
