public import FoundationEssentials
internal import KeyVault
package import Sealing

/// A value that programs of an app group share: versioned, with rules for when it is valid.
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
    /// The name under which the record lies when a call gives none: segments of letters, digits, `.`, `_`, `-`, joined
    /// by `/`, none starting with a dot.
    static var recordName: String { get }
    /// The version of the type's shape, from 1; raise it when old programs could misread the new shape.
    static var schemaVersion: Int { get }
    /// The oldest version that this type still reads; what its migrations begin with, else the current one.
    static var oldestReadableVersion: Int { get }
    /// The steps from older shapes to this one, run on read; none unless stated. A version without a step is decoded as
    /// the type itself.
    static var migrations: SchemaMigrations<Self> { get }
    /// How it is written down; JSON unless stated.
    static var format: RecordFormat { get }
    /// When it can be read: after the vault's first unlock, or only while the vault is unlocked; the vault's default unless
    /// stated.
    static var protection: RecordProtection { get }
    /// How long after its sealing a value may be read; nil, the default, means for ever.
    static var maximumAge: Duration? { get }
    /// When the value stops being true; nil, the default, means never. A reader refuses it from that moment on.
    var expiresAt: Date? { get }
    /// Rules about single fields, each said in a line; checked together with `validate()`. None unless stated. A stored
    /// property (`static let`) is made once; a computed one is made anew with every read.
    static var rules: [FieldRule<Self>] { get }
    /// The record's own rules, run on every read and before every write, whether or not one of `rules` is broken.
    ///
    /// - Throws: `ValidationFailure`, naming what is wrong by field.
    func validate() throws(ValidationFailure)
}

extension SealedRecord {
    /// Where the migrations begin, else only the current version.
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

/// When records of a type can be read (`docs/guides/keys-and-locking.md`).
public enum RecordProtection: Sendable, Hashable {
    /// The class of the value that a write replaces. A new record is *when unlocked* where only persons open the vault, and
    /// *after first unlock* where an unattended program opens it as well.
    case vaultDefault
    /// From the vault's first unlock until the machine restarts; always, where the vault has a key file or a credential.
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

/// How a record is written down before it is sealed. A reader takes any of them, whatever its type says.
public enum RecordFormat: Sendable, Hashable, CaseIterable {
    /// JSON: readable by anybody who opens the blob, sorted keys, dates as RFC 3339 text, bytes as base64.
    case json
    /// A binary property list: bytes and dates as they are; for records that hold much of either.
    case binaryPropertyList

    /// What a blob's header says of it.
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
public struct ValidationFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// One broken rule.
    public struct Violation: Hashable, Sendable {
        /// The field's name; empty when the rule is about the whole record.
        public let field: String
        /// What the rule asks for.
        public let reason: String
    }

    /// Every broken rule: the type's `rules` in their order, then what `validate()` found.
    public private(set) var violations: [Violation]

    /// One broken rule.
    public init(_ field: String = "", _ reason: String) {
        violations = [Violation(field: field, reason: reason)]
    }

    /// Several broken rules at once.
    public init(_ violations: [(field: String, reason: String)]) {
        self.violations = violations.map { Violation(field: $0.field, reason: $0.reason) }
    }

    /// All of them in one line.
    public var description: String {
        violations.map { $0.field.isEmpty ? $0.reason : "\($0.field): \($0.reason)" }.joined(separator: "; ")
    }

    /// All rules of a value, of both kinds; nil where none is broken.
    init?<Record: SealedRecord>(of value: Record) {
        var found = Record.rules.flatMap { rule in
            rule.violations(value).map { Violation(field: rule.field, reason: $0) }
        }
        do throws(ValidationFailure) { try value.validate() } catch { found += error.violations }
        guard !found.isEmpty else { return nil }
        violations = found
    }
}
