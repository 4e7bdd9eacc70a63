public import FoundationEssentials
internal import KeyVault
package import Sealing

/// A value that programs of an app group share: versioned, with rules for its validity.
///
/// ```swift
/// struct WidgetAuthState: SealedRecord {
///     static let recordName = "widget_auth_state"
///     static let schemaVersion = 1
///     var displayName: String?
///     var tokenExpiresAt: Date?
///     var expiresAt: Date? { tokenExpiresAt }
/// }
/// ```
public protocol SealedRecord: Codable, Sendable {
    /// The record's name if a call states none: segments of letters, digits, `.`, `_`, `-`, joined by `/`, none
    /// starting with a dot.
    static var recordName: String { get }
    /// The version of the type's shape, from 1; raise it when old programs could misread the new shape.
    static var schemaVersion: Int { get }
    /// The oldest version that this type still reads; the first of its migrations, else the current one.
    static var oldestReadableVersion: Int { get }
    /// The steps from older shapes to this one, run on read; none unless stated. A version without a step is decoded as
    /// the type itself.
    static var migrations: SchemaMigrations<Self> { get }
    /// The encoding; JSON unless stated.
    static var format: RecordFormat { get }
    /// The class of its key: readable after the vault's first unlock, or only while the vault is unlocked; the vault's
    /// default unless stated.
    static var protection: RecordProtection { get }
    /// The maximum age of a value after its sealing; nil, the default, means any age.
    static var maximumAge: Duration? { get }
    /// The time at which the value expires; nil, the default, means never. A reader refuses it from that moment on.
    var expiresAt: Date? { get }
    /// Rules about single fields, one line each; checked together with `validate()`. None unless stated. A stored
    /// property (`static let`) is created once; a computed one is created with every read.
    static var rules: [FieldRule<Self>] { get }
    /// Checks the record's own rules on every read and before every write, also if one of `rules` is broken.
    ///
    /// - Throws: `ValidationFailure` with the violations by field.
    func validate() throws(ValidationFailure)
}

extension SealedRecord {
    /// The first version of the migrations, else only the current version.
    public static var oldestReadableVersion: Int { migrations.oldest ?? schemaVersion }
    /// No older shape.
    public static var migrations: SchemaMigrations<Self> { .none }
    /// JSON.
    public static var format: RecordFormat { .json }
    /// The vault's default.
    public static var protection: RecordProtection { .vaultDefault }
    /// No rule.
    public static var rules: [FieldRule<Self>] { [] }
    /// No limit.
    public static var maximumAge: Duration? { nil }
    /// Never.
    public var expiresAt: Date? { nil }
    /// Every value is valid.
    public func validate() throws(ValidationFailure) {}
}

/// The protection of a type's records (`docs/guides/keys-and-locking.md`).
public enum RecordProtection: Sendable, Hashable {
    /// The class of the value that a write replaces. A new record is *when unlocked* if only persons open the vault,
    /// and *after first unlock* if an unattended program opens it as well.
    case vaultDefault
    /// From the vault's first unlock until the machine restarts; always, if the vault has a key file or a credential.
    case afterFirstUnlock
    /// While the vault is unlocked.
    case whenUnlocked

    /// The class that the type states.
    package var stated: ProtectionClass? {
        switch self {
        case .vaultDefault: nil
        case .afterFirstUnlock: .afterFirstUnlock
        case .whenUnlocked: .whenUnlocked
        }
    }
}

/// The encoding of a record before it is sealed. A reader accepts any of them, regardless of its type's format.
public enum RecordFormat: Sendable, Hashable, CaseIterable {
    /// JSON: readable by every program that opens the blob, sorted keys, dates as RFC 3339 text, bytes as base64.
    case json
    /// A binary property list: bytes and dates unconverted; for records that hold many of either.
    case binaryPropertyList

    /// The codec in a blob's header.
    package var codec: PayloadCodec {
        switch self {
        case .json: .json
        case .binaryPropertyList: .binaryPropertyList
        }
    }
}

/// The record's own rules that a value breaks.
///
/// Reasons are shown to people and kept in logs: they name fields and limits, never the values.
public struct ValidationFailure: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// A broken rule.
    public struct Violation: Hashable, Sendable {
        /// The field's name; empty when the rule is about the whole record.
        public let field: String
        /// The rule's requirement.
        public let reason: String
    }

    /// Every broken rule: the type's `rules` in their order, then those of `validate()`.
    public private(set) var violations: [Violation]

    /// Creates a failure with one broken rule.
    public init(_ field: String = "", _ reason: String) {
        violations = [Violation(field: field, reason: reason)]
    }

    /// Creates a failure with several broken rules.
    public init(_ violations: [(field: String, reason: String)]) {
        self.violations = violations.map { Violation(field: $0.field, reason: $0.reason) }
    }

    /// All violations in one line.
    public var description: String {
        violations.map { $0.field.isEmpty ? $0.reason : "\($0.field): \($0.reason)" }.joined(separator: "; ")
    }

    /// The same line: the error's `localizedDescription`.
    public var errorDescription: String? { description }

    /// Checks all rules of a value, of both kinds; nil if none is broken.
    init?<Record: SealedRecord>(of value: Record) {
        var found = Record.rules.flatMap { rule in
            rule.violations(value).map { Violation(field: rule.field, reason: $0) }
        }
        do throws(ValidationFailure) { try value.validate() } catch { found += error.violations }
        guard !found.isEmpty else { return nil }
        violations = found
    }
}
