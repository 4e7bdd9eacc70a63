/// The description of one code: the row for explanations, advice, policies, logs and documents.
struct CodeEntry: Sendable {
    struct Traits: OptionSet, Sendable {
        let rawValue: Int
        /// A blob was found and refused.
        static let rejection = Traits(rawValue: 1)
        /// Occurs without a fault: time passes, and programs are updated one after the other.
        static let expected = Traits(rawValue: 2)
        /// The blob itself is at fault, not the vault, the clock or this program: a copy of it is evidence.
        static let evidence = Traits(rawValue: 4)
    }

    let code: StoreError.Code
    /// The check that fails with it; nil for a code that does not concern reads.
    let check: ReadCheck?
    let traits: Traits
    /// The meaning, in one plain sentence.
    let explanation: String
    /// The advice, in one sentence, unless the error gives a better one.
    let advice: String

    init(
        _ code: StoreError.Code, _ check: ReadCheck? = nil, _ traits: Traits = [], says explanation: String,
        advice: String
    ) {
        self.code = code
        self.check = check
        self.traits = traits
        self.explanation = explanation
        self.advice = advice
    }

    /// Every code that this version knows: the rejections in the order of the checks, then the others.
    static let all = RejectionTable.entries + FailureTable.entries

    static let byCode = Dictionary(all.map { ($0.code, $0) }) { first, _ in first }
}

extension StoreError {
    /// A read found a blob and refused it: nothing is absent or locked, and nothing around the blob failed.
    ///
    /// Thrown by a write, the same codes are about the value that was to be written.
    public var isRejection: Bool { code.isRejection }
}

extension StoreError.Code {
    /// The rejections that this version knows, in the order of the checks.
    public static let rejections = RejectionTable.entries.map(\.code)

    /// Every code that this version knows: the rejections first.
    package static let all = CodeEntry.all.map(\.code)

    /// The check that fails with this code; nil for a code that does not concern reads.
    public var check: ReadCheck? { entry?.check }

    /// The meaning, in one plain sentence that holds for every record.
    public var explanation: String { entry?.explanation ?? "This version has no explanation for it." }

    /// The code means that a blob was found and refused.
    public var isRejection: Bool { has(.rejection) }

    /// The code occurs without a fault: time passes, and programs are updated one after the other.
    package var isExpected: Bool { has(.expected) }

    /// The blob itself is at fault, so a copy of it is evidence.
    var isEvidence: Bool { has(.evidence) }

    /// The advice, unless an error gives a better one.
    package var defaultAdvice: String { entry?.advice ?? "See the reason." }

    private var entry: CodeEntry? { CodeEntry.byCode[self] }

    private func has(_ trait: CodeEntry.Traits) -> Bool { entry?.traits.contains(trait) ?? false }
}

/// The rejections, in the order of the checks. docs/validation.md has the same table, and a test compares the two.
enum RejectionTable {
    static let entries: [CodeEntry] = beforeOpening + opening + authority + order + contents

    private static let beforeOpening = [
        CodeEntry(
            .tooLarge, .size, .rejection,
            says: "The file is larger than this store reads; none of it was examined.",
            advice: "Raise the group's limit if the record is one of yours: sealctl container record-limit. "
                + "A program that states its own limit must raise that."),
        CodeEntry(
            .malformed, .shape, [.rejection, .evidence],
            says: "It is not a sealed blob, or it is damaged beyond recognition.",
            advice: "Do not use it; the next write replaces it and keeps it in quarantine."),
        CodeEntry(
            .unsupportedFormat, .shape, [.rejection, .expected],
            says: "It is a sealed blob of a format that this version does not know.",
            advice: "Update this program."),
        CodeEntry(
            .wrongKind, .place, [.rejection, .evidence],
            says: "It was sealed as another kind of blob, so it was moved or copied here.",
            advice: "Put the file back where it was written, or write the record again."),
        CodeEntry(
            .wrongGroup, .place, [.rejection, .evidence],
            says: "It was sealed for another app group, so it was copied from another container.",
            advice: "Put the file back where it was written, or write the record again."),
        CodeEntry(
            .wrongName, .place, [.rejection, .evidence],
            says: "It was sealed under another record's name, so it was moved or copied here.",
            advice: "Put the file back where it was written, or write the record again."),
    ]

    private static let opening = [
        CodeEntry(
            .unknownKey, .key, .rejection,
            says: "It was sealed under a key that this vault does not hold, or does not hold any more.",
            advice: "Restore the vault that belongs to this container."),
        CodeEntry(
            .wrongSuite, .key, [.rejection, .evidence],
            says: "Its header names another suite than the one that the vault has for its key.",
            advice: "Do not use it; let the producing program write it again."),
        CodeEntry(
            .wrongEpoch, .epoch, .rejection,
            says: "Its epoch is not the one that the vault has for its key: one of the two was changed or rolled back.",
            advice: "Restore the vault that belongs to this container."),
        CodeEntry(
            .wrongCommitment, .commitment, [.rejection, .evidence],
            says: "Its header was changed, or was never written under the key that it names.",
            advice: "Do not use it; the next write replaces it and keeps it in quarantine."),
        CodeEntry(
            .retiredEpoch, .retirement, [.rejection, .evidence],
            says: "It was sealed under a key that a completed rotation has retired.",
            advice: "Do not use it: it was sealed under the key after the rotation, or an old copy was put back."),
        CodeEntry(
            .downgraded, .retirement, [.rejection, .evidence],
            says:
                "Its name is protected \"when unlocked\", but it was sealed under a key that unattended programs have.",
            advice: "Do not use it: a person must write the record again, or state the lower class for it."),
        CodeEntry(
            .tampered, .contents, [.rejection, .evidence],
            says: "Its contents were changed, cut short or added to after they were sealed.",
            advice: "Do not use it; the next write replaces it."),
    ]

    private static let authority = [
        CodeEntry(
            .notAuthorized, .authority, [.rejection, .evidence],
            says: "It is authentic, but no writer with the right to it has signed it.",
            advice: "Do not use it; the next write of its writer replaces it and keeps it in quarantine."),
        CodeEntry(
            .rosterBehind, .authority, [.rejection, .expected],
            says: "It was signed under a newer roster than the one that this program has.",
            advice: "Put the newest roster in the container."),
        CodeEntry(
            .missing, .authority, .rejection,
            says: "Its file, or the contents that it names, are missing, and a state of it was accepted before.",
            advice: "Find out what removed it; the next write of its writer restores it."),
    ]

    private static let order = [
        CodeEntry(
            .replayed, .order, [.rejection, .evidence],
            says: "It is authentic, but older than a state that was accepted before, or of a former container: "
                + "an old copy was put back.",
            advice: outOfOrder),
        CodeEntry(
            .forked, .order, [.rejection, .evidence],
            says:
                "It is authentic, but another blob of the same sequence was accepted before: a copy of the container is "
                + "being written elsewhere.",
            advice: outOfOrder),
        CodeEntry(
            .sequenceJump, .order, [.rejection, .evidence],
            says: "It is authentic, but its sequence is further ahead than any program writes.",
            advice: "Find out which program wrote it, then restore the record from a backup."),
    ]

    private static let contents = [
        CodeEntry(
            .tooOld, .version, [.rejection, .expected],
            says: "It was written in a schema version that is older than this program still reads.",
            advice: "Let a current program write the record again."),
        CodeEntry(
            .tooNew, .version, [.rejection, .expected],
            says: "It was written in a schema version that is newer than this program knows.",
            advice: "Update this program."),
        CodeEntry(
            .unsafeStructure, .structure, [.rejection, .evidence],
            says: "Its contents are nested deeper, hold more values or have longer keys than the store's limits allow.",
            advice: "Do not use it, and examine the program that wrote it; or raise the store's limits."),
        CodeEntry(
            .undecodable, .decoding, [.rejection, .evidence],
            says: "Its contents are authentic, but they do not decode as the type that reads them.",
            advice: "Examine the program that wrote it: its type differs, or its schema version was not raised."),
        CodeEntry(
            .migrationFailed, .migration, .rejection,
            says: "A migration step from an older schema version to the present one failed.",
            advice: "Correct the step, or let a current program write the record again."),
        CodeEntry(
            .notYetValid, .freshness, [.rejection, .expected],
            says: "It was sealed in the future: the clock of this machine is wrong now, or was wrong then.",
            advice: "Check the clock of this machine."),
        CodeEntry(
            .stale, .freshness, [.rejection, .expected],
            says: "It has expired, or is older than its type allows.",
            advice: "Wait for the producing program to refresh it."),
        CodeEntry(
            .invalid, .rules, [.rejection, .evidence],
            says: "It decodes, but it breaks the record's own rules.",
            advice: "Examine the program that wrote it; its next valid write replaces it."),
    ]

    private static let outOfOrder = "Do not use it; the producing program's next write replaces it."
}

/// The tables of `docs/validation.md`, generated from the sources.
enum RejectionDocument {
    struct Table {
        /// The line that the table follows.
        let start: String
        let markdown: String
    }

    /// The line that the table precedes.
    static let end = "<!-- end -->"

    static var tables: [Table] {
        [Table(start: "<!-- checks -->", markdown: checks), Table(start: "<!-- rejections -->", markdown: rejections)]
    }

    private static var checks: String {
        let rows = ReadCheck.allCases.enumerated().map { index, check in
            let codes = StoreError.Code.rejections.filter { $0.check == check }.map { "`\($0.rawValue)`" }
            let tool = check.needsType ? "no" : "yes"
            return
                "| \(index + 1) | \(check.rawValue) | \(check.meaning) | \(codes.joined(separator: ", ")) | \(tool) |"
        }
        let head = ["| | check | what passes | rejections | without the type |", "| --- | --- | --- | --- | --- |"]
        return (head + rows).joined(separator: "\n")
    }

    private static var rejections: String {
        let rows = RejectionTable.entries.map { entry in
            let level = entry.traits.contains(.expected) ? "notice" : "warning"
            let copy = entry.traits.contains(.evidence) ? "yes" : "no"
            return "| `\(entry.code.rawValue)` | \(entry.explanation) | \(copy) | \(level) |"
        }
        let head = ["| rejection | meaning | quarantine | log |", "| --- | --- | --- | --- |"]
        return (head + rows).joined(separator: "\n")
    }
}
