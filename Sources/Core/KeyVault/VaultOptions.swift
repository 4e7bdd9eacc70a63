public import AppGroups

/// The options of an open vault.
public struct VaultOptions: Sendable, Hashable {
    /// The events that are logged, and the treatment of a log that cannot be written.
    public var accessLog: AccessLogPolicy
    /// The longest wait of a change for another program's.
    public var lockTimeout: Duration
    /// The entitlements that must contain the access group; by default this program's.
    ///
    /// Checked when a vault is opened, created, imported or given up; never for its status or for locking it.
    public var entitlements: EntitlementPolicy
    /// The group's team key. With it a person key counts only if the team key has certified it. Without it, that
    /// depends on the machine's settings, on this user's memory, and on the vault. See docs/vault.md, section 10.
    public var teamKey: TeamPublicKey?

    /// `true` to take an older copy for the vault; only for `Vault.accept`.
    var acceptsRollback = false
    /// The fingerprint that the vault must have, compared before the credential is tried; only for `Vault.accept`.
    var expectedFingerprint: String?
    /// `true` if the opening leaves this user's memory and watermarks unchanged; only for `Vault.accept`.
    var isTentative = false
    /// `true` if the vault is opened to be certified; only for `Vault.certify`.
    var isCertifying = false
    /// The lost team key that a person replaces; only for `Vault.certify`.
    var lostTeamKey: TeamPublicKey?
    /// `true` if the opening completes the rekeys of other programs, which takes the vault's lock.
    var settles = true

    /// Creates options. By default changes need the access log, wait ten seconds, and use this program's entitlements
    /// and no team key.
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

/// The treatment of an access log that cannot be written. Openings and reads never fail for it.
public enum AccessLogPolicy: Sendable, Hashable, CaseIterable {
    /// A change that cannot be logged is not made.
    case requiredForChanges
    /// A change is made, whether or not it is logged.
    case whenPossible
    /// Nothing is logged.
    case off
}

extension VaultError.Code {
    /// The program's entitlements do not contain the access group.
    public static let notEntitled = Self(rawValue: "notEntitled")
    /// The program's entitlements cannot be read, trusted or understood.
    public static let entitlements = Self(rawValue: "entitlements")
}

extension VaultOptions {
    /// Refuses an access group that the entitlements do not contain, before any file of its vault is read.
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
