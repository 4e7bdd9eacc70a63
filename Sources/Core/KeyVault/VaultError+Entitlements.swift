internal import AppGroups

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
