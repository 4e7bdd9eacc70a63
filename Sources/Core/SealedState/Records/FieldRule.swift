internal import Synchronization

/// Rules about one field of a record, one line each.
///
/// ```swift
/// static let rules: [FieldRule<Self>] = [
///     .field("displayName", \.displayName, .notEmpty, .length(...80)),
///     .field("accountID", \.accountID, .required(when: \.isAuthenticated), .matches(/[a-z0-9-]+/, upTo: 64)),
///     .field("plan", \.plan, .oneOf("free", "team")),
///     .that("expiresAt", "must be after issuedAt") { $0.expiresAt > $0.issuedAt },
/// ]
/// ```
/// Declare them as a stored property: a computed one builds them, patterns included, with every read.
///
/// The field's name is stated beside its key path, because a key path does not provide it on every platform. A broken
/// rule names the field and its limit, never the value.
public struct FieldRule<Record>: Sendable {
    /// The field's name, for messages.
    public let field: String
    /// The requirements that a value violates, in their order.
    let violations: @Sendable (Record) -> [String]

    /// Creates rules about a field. If the field may be missing, nil satisfies all of them except `required`.
    ///
    /// - Parameters:
    ///   - name: Its name in messages.
    ///   - value: A key path to it.
    ///   - constraints: The requirements; all violations are reported.
    public static func field<Value>(
        _ name: String, _ value: @escaping @Sendable (Record) -> Value?,
        _ constraints: FieldConstraint<Record, Value>...
    ) -> FieldRule {
        FieldRule(field: name) { record in
            let found = value(record)
            return constraints.compactMap { $0.violation(record, found) }
        }
    }

    /// Creates a rule about several fields, reported under one of them.
    ///
    /// - Parameters:
    ///   - field: The field for the report; empty for the whole record.
    ///   - reason: The requirement; never a value of the record.
    ///   - holds: Returns `true` if a record satisfies the rule.
    public static func that(
        _ field: String = "", _ reason: String, holds: @escaping @Sendable (Record) -> Bool
    ) -> FieldRule {
        FieldRule(field: field) { holds($0) ? [] : [reason] }
    }
}

/// A requirement for a field's value; see `FieldRule`.
public struct FieldConstraint<Record, Value>: Sendable {
    /// Returns the requirement if the value violates it; nil means a missing field.
    let violation: @Sendable (Record, Value?) -> String?

    /// Creates a constraint that a missing value satisfies.
    private init(_ reason: String, holds: @escaping @Sendable (Value) -> Bool) {
        violation = { _, value in
            guard let value, !holds(value) else { return nil }
            return reason
        }
    }

    private init(requiredWhen isRequired: @escaping @Sendable (Record) -> Bool, _ reason: String) {
        violation = { record, value in value == nil && isRequired(record) ? reason : nil }
    }

    /// The field is present.
    public static var required: Self { Self(requiredWhen: { _ in true }, "is required") }

    /// The field is present if a condition on the record holds.
    public static func required(when condition: @escaping @Sendable (Record) -> Bool) -> Self {
        Self(requiredWhen: condition, "is required here")
    }

    /// Any other constraint: the reason states the requirement, and never contains a value.
    public static func custom(_ reason: String, _ holds: @escaping @Sendable (Value) -> Bool) -> Self {
        Self(reason, holds: holds)
    }
}

extension FieldConstraint where Value: Collection & SendableMetatype {
    /// At least one character, byte or element.
    public static var notEmpty: Self { Self("must not be empty") { !$0.isEmpty } }

    /// The number of characters of text, or elements of a collection: `.length(1...40)`, `.length(...40)`,
    /// `.length(8...)`.
    public static func length(_ limits: some RangeExpression<Int> & Sendable) -> Self {
        let (lowest, highest) = Self.bounds(of: limits)
        let unit = Value.self is any StringProtocol.Type ? "characters" : "elements"
        return Self("must have \(Self.text(lowest, highest)) \(unit)") { value in
            Self.has(atLeast: lowest, value) && !(highest < Int.max && Self.has(atLeast: highest + 1, value))
        }
    }

    /// Counts up to `count` only: counting the characters of a long text is slow.
    private static func has(atLeast count: Int, _ value: Value) -> Bool {
        value.index(value.startIndex, offsetBy: count, limitedBy: value.endIndex) != nil
    }

    private static func bounds(of limits: some RangeExpression<Int>) -> (lowest: Int, highest: Int) {
        let (lowest, highest) = unclampedBounds(of: limits)
        precondition(highest >= max(0, lowest), "A length rule allows no length: \(limits).")
        return (max(0, lowest), highest)
    }

    private static func unclampedBounds(of limits: some RangeExpression<Int>) -> (lowest: Int, highest: Int) {
        switch limits {
        // As half-open ranges, their ends would overflow.
        case let closed as ClosedRange<Int>: return (closed.lowerBound, closed.upperBound)
        case let through as PartialRangeThrough<Int>: return (0, through.upperBound)
        // A range from 0 cannot end below 0.
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
        Self("must be between \(limits.lowerBound) and \(limits.upperBound)") { limits.contains($0) }
    }

    /// From a bound up to but excluding another one.
    public static func range(_ limits: Range<Value>) -> Self {
        precondition(!limits.isEmpty, "A range rule allows no value: \(limits).")
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
    /// The value is one of several.
    public static func oneOf(_ allowed: Value...) -> Self {
        let named = allowed.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
        let others = allowed.count - 8
        return Self("must be one of \(named)\(others > 0 ? " and \(others) more" : "")") { allowed.contains($0) }
    }
}

extension FieldConstraint where Value: StringProtocol & Sendable, Value.SubSequence == Substring {
    /// The whole text matches a pattern.
    ///
    /// The length is checked first: matching can be slow on text crafted for it. That bound does not help against a
    /// pattern whose time grows exponentially, such as `(a+)+`, and hardly against a pattern that can split a text in
    /// many ways: `a*a*a*a*b` takes 22 seconds for 256 bytes. Let each repetition begin with a character that cannot
    /// precede it, and keep the bound as low as the field allows. Only the reading thread waits for a match.
    /// - Parameters:
    ///   - pattern: A regex; created once, when it is first needed.
    ///   - maximum: The maximum of UTF-8 bytes to match, 64 unless stated; longer text breaks the rule.
    ///   - reason: The pattern's requirement, in words.
    public static func matches<Output>(
        _ pattern: @autoclosure @escaping @Sendable () -> Regex<Output>, upTo maximum: Int = 64,
        _ reason: String = "must have the required form"
    ) -> Self {
        precondition(maximum >= 0, "A form rule allows no length: up to \(maximum) bytes.")
        let pattern = ConfinedPattern(pattern)
        return Self("\(reason), in at most \(maximum) bytes") { text in
            text.utf8.count <= maximum && pattern.matchesWhole(text)
        }
    }
}

/// A regex for several threads, with an own instance for each.
///
/// A match can be slow, so no lock is held meanwhile: a thread takes a compiled regex from the spare ones, or creates
/// one, and puts it back.
final class ConfinedPattern<Output>: Sendable {
    /// The maximum of spare regexes: that many threads match at once without creating one.
    private static var capacity: Int { 8 }

    /// Removed from the spare ones while in use, so only one thread at a time has it.
    private final class Compiled: @unchecked Sendable {
        let regex: Regex<Output>
        init(_ regex: Regex<Output>) { self.regex = regex }
    }

    private let spare = Mutex<[Compiled]>([])
    private let make: @Sendable () -> Regex<Output>

    init(_ make: @escaping @Sendable () -> Regex<Output>) { self.make = make }

    /// Returns `true` if the whole text matches; a pattern that fails while it runs matches nothing.
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
