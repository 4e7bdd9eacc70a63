/// What a store does about a blob that it refuses, beyond refusing it.
public struct RejectionPolicy: Sendable, Hashable {
    /// Answers with the last value that was accepted, marked with the rejection, while it is still valid itself.
    public var keepsLastGood: Bool
    /// Copies the blob to quarantine, with its reason.
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
