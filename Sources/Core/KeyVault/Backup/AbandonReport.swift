/// What was given up, where it lies now, and what took its place.
public struct AbandonReport: Sendable, Hashable {
    /// The old vault's file and its access log, as far as there were any.
    public let setAside: [SetAsideFile]
    /// The group's sealed files, now in the container's quarantine.
    public let quarantined: [SetAsideFile]
    /// The epoch of the new vault's first key; higher than any that the old files claim.
    public let epoch: UInt32
}
