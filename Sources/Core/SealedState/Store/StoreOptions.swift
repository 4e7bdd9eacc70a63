public import AppGroups
public import FoundationEssentials
public import KeyVault
public import SharedFiles

/// How a store behaves; the defaults suit small state of one machine.
public struct StoreOptions: Sendable {
    /// The largest record in bytes of its encoded form. 1 MiB unless stated.
    public var maximumRecordSize = 1 << 20
    /// How deep a record may be nested before it is refused undecoded. 64 unless stated.
    public var maximumDepth = 64
    /// How many values, keys included, a record's payload may have before it is refused undecoded. 100,000 unless stated.
    public var maximumValues = 100_000
    /// What happens to a blob that is refused. Nothing more than refusing it unless stated.
    public var rejectionPolicy: RejectionPolicy = .refuse
    /// Told of each rejection of a read, an update or a watch, on the thread that meets it; it must not use the store. It
    /// gets no contents. Also told, with `isRejection` false, of a blob that could not be put into quarantine: a copy by the
    /// policy, or what a write is about to replace.
    public var onRejection: (@Sendable (StoreError) -> Void)?
    /// How long a writer waits for a record's lock. 5 seconds unless stated. In the `async` forms it runs from the call on,
    /// the wait for a thread included.
    public var lockTimeout: Duration = .seconds(5)
    /// How far in the future a record may claim to have been sealed. 5 seconds unless stated: programs of one machine
    /// share its clock, but the clock is stepped now and then.
    public var clockSkew: Duration = .seconds(5)
    /// Whether a write has to survive a power loss. `.durable` unless stated.
    public var durability: Durability = .durable
    /// Whose entitlements have to hold the group. This program's unless stated; a program without any may open every group.
    public var entitlements: EntitlementPolicy = .program
    /// The group's team key, which signs its roster of writers. With it records that the roster governs are believed only
    /// with the signature of a writer that may write them, and the vault's persons only where it has certified them; without
    /// it that depends on the system's settings, on what this user has accepted before, and on the vault. See
    /// docs/writers.md.
    public var teamKey: TeamPublicKey?
    /// The key by which this program signs what it writes under governed names; nil for a program that only reads them.
    public var writerKey: WriterKey?
    /// The time of day; it decides freshness only, never order.
    public var now: @Sendable () -> Date = { Date() }

    /// The defaults.
    public init() {}
}

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
