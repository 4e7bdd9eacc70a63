internal import Synchronization

/// Rules about one field of a record that can be said in a line.
///
/// ```swift
/// static let rules: [FieldRule<Self>] = [
///     .field("displayName", \.displayName, .notEmpty, .length(...80)),
///     .field("accountID", \.accountID, .required(when: \.isAuthenticated), .matches(/[a-z0-9-]+/, upTo: 64)),
///     .field("plan", \.plan, .oneOf("free", "team")),
///     .that("expiresAt", "must lie behind issuedAt") { $0.expiresAt > $0.issuedAt },
/// ]
/// ```
/// Declare them as a stored property: a computed one builds them anew, patterns included, with every read.
///
/// The field's name is given beside its key path, because a key path does not tell it on every platform. A rule that is
/// broken names the field and its limit, never the value.
public struct FieldRule<Record>: Sendable {
    /// The field that it is about, for messages.
    public let field: String
    /// What the rules ask for that a value does not keep, in their order.
    let violations: @Sendable (Record) -> [String]

    /// Rules about a field. Where it may be missing, nil keeps all of them except `required`.
    ///
    /// - Parameters:
    ///   - name: Its name as messages show it.
    ///   - value: A key path to it.
    ///   - constraints: What has to hold; all that are broken are told.
    public static func field<Value>(
        _ name: String, _ value: @escaping @Sendable (Record) -> Value?,
        _ constraints: FieldConstraint<Record, Value>...
    ) -> FieldRule {
        FieldRule(field: name) { record in
            let found = value(record)
            return constraints.compactMap { $0.violation(record, found) }
        }
    }

    /// A rule about several fields, told under one of them.
    ///
    /// - Parameters:
    ///   - field: The field that it is told under; empty for the whole record.
    ///   - reason: What it asks for; never a value of the record.
    ///   - holds: Whether a record keeps it.
    public static func that(
        _ field: String = "", _ reason: String, holds: @escaping @Sendable (Record) -> Bool
    ) -> FieldRule {
        FieldRule(field: field) { holds($0) ? [] : [reason] }
    }
}

/// One thing that a field's value has to keep; see `FieldRule`.
public struct FieldConstraint<Record, Value>: Sendable {
    /// What it asks for, where a value does not keep it; nil stands for a field that is missing.
    let violation: @Sendable (Record, Value?) -> String?

    /// A constraint that a missing value keeps.
    private init(_ reason: String, holds: @escaping @Sendable (Value) -> Bool) {
        violation = { _, value in
            guard let value, !holds(value) else { return nil }
            return reason
        }
    }

    private init(requiredWhen isRequired: @escaping @Sendable (Record) -> Bool, _ reason: String) {
        violation = { record, value in value == nil && isRequired(record) ? reason : nil }
    }

    /// The field is there.
    public static var required: Self { Self(requiredWhen: { _ in true }, "is required") }

    /// The field is there whenever a condition on the record holds.
    public static func required(when condition: @escaping @Sendable (Record) -> Bool) -> Self {
        Self(requiredWhen: condition, "is required here")
    }

    /// Whatever else: the reason says what it asks for, and never holds a value.
    public static func custom(_ reason: String, _ holds: @escaping @Sendable (Value) -> Bool) -> Self {
        Self(reason, holds: holds)
    }
}

extension FieldConstraint where Value: Collection & SendableMetatype {
    /// At least one character, byte or element.
    public static var notEmpty: Self { Self("must not be empty") { !$0.isEmpty } }

    /// How many characters of text, or elements of a collection: `.length(1...40)`, `.length(...40)`, `.length(8...)`.
    public static func length(_ limits: some RangeExpression<Int> & Sendable) -> Self {
        let (lowest, highest) = Self.bounds(of: limits)
        let unit = Value.self is any StringProtocol.Type ? "characters" : "elements"
        return Self("must have \(Self.text(lowest, highest)) \(unit)") { value in
            Self.has(atLeast: lowest, value) && !(highest < Int.max && Self.has(atLeast: highest + 1, value))
        }
    }

    /// Counts no further than that: counting the characters of a long text costs time.
    private static func has(atLeast count: Int, _ value: Value) -> Bool {
        value.index(value.startIndex, offsetBy: count, limitedBy: value.endIndex) != nil
    }

    private static func bounds(of limits: some RangeExpression<Int>) -> (lowest: Int, highest: Int) {
        let (lowest, highest) = unclampedBounds(of: limits)
        precondition(highest >= max(0, lowest), "A rule on the length allows no length at all: \(limits).")
        return (max(0, lowest), highest)
    }

    private static func unclampedBounds(of limits: some RangeExpression<Int>) -> (lowest: Int, highest: Int) {
        switch limits {
        // Made half-open, their ends would overflow.
        case let closed as ClosedRange<Int>: return (closed.lowerBound, closed.upperBound)
        case let through as PartialRangeThrough<Int>: return (0, through.upperBound)
        // An end below 0 would not be one of a range from 0.
        case let upTo as PartialRangeUpTo<Int>: return (0, max(0, upTo.upperBound) - 1)
        default:
            let range = limits.relative(to: 0..<Int.max)
            return (range.lowerBound, range.upperBound == Int.max ? Int.max : max(0, range.upperBound) - 1)
        }
    }

    private static func text(_ lowest: Int, _ highest: Int) -> String {
        if highest == Int.max { return "at least \(lowest)" }
        if lowest == highest { return "exactly \(lowest)" }
        return lowest == 0 ? "at most \(highest)" : "\(lowest) to \(highest)"
    }
}

extension FieldConstraint where Value: Comparable & Sendable {
    /// Between two bounds, both allowed.
    public static func range(_ limits: ClosedRange<Value>) -> Self {
        Self("must lie between \(limits.lowerBound) and \(limits.upperBound)") { limits.contains($0) }
    }

    /// From a bound to below another one.
    public static func range(_ limits: Range<Value>) -> Self {
        precondition(!limits.isEmpty, "A rule on the range allows no value at all: \(limits).")
        return Self("must be at least \(limits.lowerBound) and below \(limits.upperBound)") { limits.contains($0) }
    }

    /// Below a bound.
    public static func range(_ limits: PartialRangeUpTo<Value>) -> Self {
        Self("must be below \(limits.upperBound)") { limits.contains($0) }
    }

    /// No less than a bound.
    public static func range(_ limits: PartialRangeFrom<Value>) -> Self {
        Self("must be at least \(limits.lowerBound)") { limits.contains($0) }
    }

    /// No more than a bound.
    public static func range(_ limits: PartialRangeThrough<Value>) -> Self {
        Self("must be at most \(limits.upperBound)") { limits.contains($0) }
    }
}

extension FieldConstraint where Value: Equatable & Sendable {
    /// One of a few values.
    public static func oneOf(_ allowed: Value...) -> Self {
        let named = allowed.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
        let others = allowed.count - 8
        return Self("must be one of \(named)\(others > 0 ? " and \(others) more" : "")") { allowed.contains($0) }
    }
}

extension FieldConstraint where Value: StringProtocol & Sendable, Value.SubSequence == Substring {
    /// The whole text fits a pattern.
    ///
    /// The length is looked at first: matching can take long on text that somebody made for it. That bound is no cure for
    /// a pattern whose time grows exponentially, such as `(a+)+`, and hardly one for a pattern that can split a text in many
    /// ways: `a*a*a*a*b` takes 22 seconds for 256 bytes. Let what a pattern repeats begin with something that cannot
    /// stand before it, and keep the bound as low as the field allows. Only the thread that reads waits for a match.
    /// - Parameters:
    ///   - pattern: A regex; made once, when it is first needed.
    ///   - maximum: The most bytes of UTF-8 that are matched, 64 unless stated; longer text breaks the rule.
    ///   - reason: What the pattern asks for, in words.
    public static func matches<Output>(
        _ pattern: @autoclosure @escaping @Sendable () -> Regex<Output>, upTo maximum: Int = 64,
        _ reason: String = "must have the required form"
    ) -> Self {
        precondition(maximum >= 0, "A rule on the form allows no length at all: up to \(maximum) bytes.")
        let pattern = ConfinedPattern(pattern)
        return Self("\(reason), in at most \(maximum) bytes") { text in
            text.utf8.count <= maximum && pattern.matchesWhole(text)
        }
    }
}

/// A regex that several threads use, each one of its own.
///
/// A match can take long, so nothing is locked meanwhile: a thread takes a compiled regex out of the spare ones, or makes
/// one, and puts it back.
final class ConfinedPattern<Output>: Sendable {
    /// The most that are kept: as many threads match at once without making one anew.
    private static var capacity: Int { 8 }

    /// It is out of the spare ones while it is used: one thread at a time has it.
    private final class Compiled: @unchecked Sendable {
        let regex: Regex<Output>
        init(_ regex: Regex<Output>) { self.regex = regex }
    }

    private let spare = Mutex<[Compiled]>([])
    private let make: @Sendable () -> Regex<Output>

    init(_ make: @escaping @Sendable () -> Regex<Output>) { self.make = make }

    /// Whether all of a text fits; a pattern that fails while it runs fits nothing.
    func matchesWhole(_ text: some StringProtocol) -> Bool {
        let pattern = spare.withLock { $0.popLast() } ?? Compiled(make())
        defer {
            spare.withLock { spare in
                if spare.count < Self.capacity { spare.append(pattern) }
            }
        }
        return (try? pattern.regex.wholeMatch(in: String(text))) != nil
    }
}
