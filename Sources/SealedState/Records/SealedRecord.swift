public import FoundationEssentials

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
    /// The oldest version that this type still decodes; the current one unless stated.
    static var oldestReadableVersion: Int { get }
    /// How long after its sealing a value may be read; nil, the default, means for ever.
    static var maximumAge: Duration? { get }
    /// When the value stops being true; nil, the default, means never. A reader refuses it from that moment on.
    var expiresAt: Date? { get }
    /// The record's own rules, run on every read and before every write.
    ///
    /// - Throws: `ValidationFailure`, naming what is wrong by field.
    func validate() throws(ValidationFailure)
}

extension SealedRecord {
    /// Only the current version.
    public static var oldestReadableVersion: Int { schemaVersion }
    /// No limit.
    public static var maximumAge: Duration? { nil }
    /// Never.
    public var expiresAt: Date? { nil }
    /// Every value is valid.
    public func validate() throws(ValidationFailure) {}
}
