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
    /// The group's team key. With it a person key counts only where the team key has certified it; without it that depends
    /// on the machine's settings, on what this user has accepted before, and on the vault. See docs/vault.md, section 10.
    public var teamKey: TeamPublicKey?

    /// Whether an older copy is taken for the vault; for `Vault.accept` alone.
    var acceptsRollback = false
    /// The fingerprint that the vault must have: compared before the credential is tried; for `Vault.accept` alone.
    var expectedFingerprint: String?
    /// Whether the opening leaves no trace in this user's memory and watermarks; for `Vault.accept` alone.
    var isTentative = false
    /// Whether the vault is opened to be certified; for `Vault.certify` alone.
    var isCertifying = false
    /// The team key that a person replaces because it is lost; for `Vault.certify` alone.
    var lostTeamKey: TeamPublicKey?
    /// Whether the opening finishes the rekeys of other programs, which takes the vault's lock.
    var settles = true

    /// The defaults: changes need the access log; ten seconds; this program's entitlements; no team key.
    public init(
        accessLog: AccessLogPolicy = .requiredForChanges, lockTimeout: Duration = .seconds(10),
        entitlements: EntitlementPolicy = .program, teamKey: TeamPublicKey? = nil
    ) {
        self.accessLog = accessLog
        self.lockTimeout = lockTimeout
        self.entitlements = entitlements
        self.teamKey = teamKey
    }
}

/// What happens where the access log cannot be written. Openings and reads never fail for it.
public enum AccessLogPolicy: Sendable, Hashable, CaseIterable {
    /// A change of the vault that cannot be logged is not made.
    case requiredForChanges
    /// A change is made, logged or not.
    case whenPossible
    /// Nothing is logged.
    case off
}

extension VaultError.Code {
    /// The program's entitlements do not hold the access group.
    public static let notEntitled = Self(rawValue: "notEntitled")
    /// The program's entitlements cannot be read, trusted or understood.
    public static let entitlements = Self(rawValue: "entitlements")
}

extension VaultOptions {
    /// Refuses an access group that the entitlements do not hold, before anything of its vault is looked at.
    ///
    /// - Throws: `VaultError` `.notEntitled`, `.entitlements`.
    func requireEntitlement(to accessGroup: AccessGroup) throws(VaultError) {
        do throws(AppGroupError) { try entitlements.require(accessGroup) } catch {
            throw VaultError(
                error.code == .notEntitled ? .notEntitled : .entitlements, "open the vault of",
                accessGroup.identifier,
                error.code == .notEntitled ? error.reason : "\(error.subject): \(error.reason.clause).",
                advice: error.advice, underlying: error.underlying)
        }
    }
}
