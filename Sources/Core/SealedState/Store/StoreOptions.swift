public import AppGroups
public import FoundationEssentials
public import KeyVault
public import SharedFiles

/// The options of a store; the defaults suit small state of one machine.
public struct StoreOptions: Sendable {
    /// The largest record in bytes of its encoded form. 1 MiB unless stated.
    public var maximumRecordSize = 1 << 20
    /// The maximum nesting depth of a record; a deeper one is refused undecoded. 64 unless stated.
    public var maximumDepth = 64
    /// The maximum number of values, keys included, in a payload; more are refused undecoded. 100,000 unless stated.
    public var maximumValues = 100_000
    /// The treatment of a refused blob. Nothing more than refusing it unless stated.
    public var rejectionPolicy: RejectionPolicy = .refuse
    /// Called for each rejection of a read, an update or a watch, on the thread that meets it; it must not use the
    /// store. It gets no contents. Also called, with `isRejection` false, for a blob that could not be put into
    /// quarantine: a copy by the policy, or a blob that a write is about to replace.
    public var onRejection: (@Sendable (StoreError) -> Void)?
    /// The time a writer waits for a record's lock. 5 seconds unless stated. In the `async` forms it starts with the
    /// call, so the wait for a thread is included.
    public var lockTimeout: Duration = .seconds(5)
    /// The tolerance for a record that was sealed in the future. 5 seconds unless stated: programs of one machine share
    /// its clock, but the clock is stepped now and then.
    public var clockSkew: Duration = .seconds(5)
    /// The durability of a write. `.durable`, which survives a power loss, unless stated.
    public var durability: Durability = .durable
    /// The entitlements that must hold the group. This program's unless stated; a program without any may open every
    /// group.
    public var entitlements: EntitlementPolicy = .program
    /// The group's team key, which signs its roster of writers. With it, records that the roster governs are believed
    /// only with the signature of a writer that may write them, and the vault's persons only if the key has certified
    /// them. Without it, that depends on the system's settings, on the states that this user has accepted, and on the
    /// vault. See docs/spec/writers.md.
    public var teamKey: TeamPublicKey?
    /// The key with which this program signs records under governed names; nil for a program that only reads them.
    public var writerKey: WriterKey?
    /// The time of day; it decides freshness only, never order.
    public var now: @Sendable () -> Date = { Date() }

    /// The defaults.
    public init() {}
}

/// The treatment of a refused blob, beyond refusing it. The blob itself stays in place.
public struct RejectionPolicy: Sendable, Hashable {
    /// Returns the last value that this process accepted, marked with the rejection (`RecordSnapshot.rejection`), while
    /// that value is still valid. It is kept sealed; a deletion ends it.
    public var keepsLastGood: Bool
    /// Copies the blob to quarantine, with its reason: once for each version of the file, and only if the blob itself
    /// is at fault, not the vault, the clock or this program.
    public var quarantines: Bool

    /// Creates a policy.
    public init(keepsLastGood: Bool = false, quarantines: Bool = false) {
        self.keepsLastGood = keepsLastGood
        self.quarantines = quarantines
    }

    /// Refuses the blob, and nothing else.
    public static let refuse = RejectionPolicy()
    /// Returns the last good value.
    public static let keepLastGood = RejectionPolicy(keepsLastGood: true)
    /// Refuses the blob and keeps a copy.
    public static let quarantine = RejectionPolicy(quarantines: true)
}
