public import AppGroups

/// How an open vault behaves.
public struct VaultOptions: Sendable, Hashable {
    /// What is written to the access log, and what happens when it cannot be written.
    public var accessLog: AccessLogPolicy
    /// How long a change waits for another program's.
    public var lockTimeout: Duration
    /// Whose entitlements have to hold the access group. This program's unless stated.
    ///
    /// Asked where a vault is opened, made, brought in or given up; never for its status, nor to lock it.
    public var entitlements: EntitlementPolicy

    /// Whether an older copy is taken for the vault; for `Vault.accept` alone.
    var acceptsRollback = false
    /// The fingerprint that the vault must have: compared before the credential is tried; for `Vault.accept` alone.
    var expectedFingerprint: String?
    /// Whether the opening leaves no trace in this user's memory and watermarks; for `Vault.accept` alone.
    var isTentative = false
    /// Whether the opening finishes the rekeys of other programs, which takes the vault's lock.
    var settles = true

    /// The defaults: changes need the access log; ten seconds; this program's entitlements.
    public init(
        accessLog: AccessLogPolicy = .requiredForChanges, lockTimeout: Duration = .seconds(10),
        entitlements: EntitlementPolicy = .program
    ) {
        self.accessLog = accessLog
        self.lockTimeout = lockTimeout
        self.entitlements = entitlements
    }
}
