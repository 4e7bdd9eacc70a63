/// What a store does about a blob that it refuses, beyond refusing it. The blob itself stays where it is.
public struct RejectionPolicy: Sendable, Hashable {
    /// Answers with the last value that this process accepted, marked with the rejection (`RecordSnapshot.rejection`),
    /// while it is still valid itself. It is kept sealed; a deletion ends it.
    public var keepsLastGood: Bool
    /// Copies the blob to quarantine, with its reason: once for each version of the file, and only where the blob itself
    /// is at fault, not the vault, the clock or this program.
    public var quarantines: Bool

    /// A policy of both.
    public init(keepsLastGood: Bool = false, quarantines: Bool = false) {
        self.keepsLastGood = keepsLastGood
        self.quarantines = quarantines
    }

    /// Refuses it, and nothing else.
    public static let refuse = RejectionPolicy()
    /// Answers with the last good value.
    public static let keepLastGood = RejectionPolicy(keepsLastGood: true)
    /// Refuses it and keeps a copy.
    public static let quarantine = RejectionPolicy(quarantines: true)
}
