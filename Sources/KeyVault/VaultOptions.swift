/// How an open vault behaves.
public struct VaultOptions: Sendable, Hashable {
    /// What is written to the access log, and what happens when it cannot be written.
    public var accessLog: AccessLogPolicy
    /// How long a change waits for another program's.
    public var lockTimeout: Duration

    /// Whether an older copy is taken for the vault; for `Vault.accept` alone.
    var acceptsRollback = false

    /// The defaults: changes need the access log; ten seconds.
    public init(accessLog: AccessLogPolicy = .requiredForChanges, lockTimeout: Duration = .seconds(10)) {
        self.accessLog = accessLog
        self.lockTimeout = lockTimeout
    }
}
