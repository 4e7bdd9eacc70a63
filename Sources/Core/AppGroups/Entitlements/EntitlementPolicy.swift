/// Whose entitlements decide which groups may be opened.
///
/// Entitlements are a check against mistakes, as on a simulator: on Linux the kernel enforces none of them. What keeps
/// others out are the container's modes and the vault's keys.
public enum EntitlementPolicy: Sendable, Hashable {
    /// Those of this program, where it has any (see ``Entitlements/ofThisProgram()``); a program without opens every group.
    case program
    /// These.
    case given(Entitlements)
    /// None: for tools that look after groups of others.
    case unchecked

    /// Refuses an app group that the entitlements do not hold.
    ///
    /// - Throws: ``AppGroupError`` `notEntitled`, with the groups that they do hold and the nearest match; what
    ///   ``Entitlements/ofThisProgram()`` throws.
    package func require(_ group: AppGroup) throws(AppGroupError) {
        guard let entitlements = try entitlements(), !entitlements.holds(group) else { return }
        throw .notEntitled(group, entitlements)
    }

    /// Refuses an access group that the entitlements do not hold.
    ///
    /// - Throws: ``AppGroupError`` as ``require(_:)-(AppGroup)``.
    package func require(_ group: AccessGroup) throws(AppGroupError) {
        guard let entitlements = try entitlements(), !entitlements.holds(group) else { return }
        throw .notEntitled(group, entitlements)
    }

    /// The entitlements that decide; nil where every group may be opened.
    package func entitlements() throws(AppGroupError) -> Entitlements? {
        switch self {
        case .program: try Entitlements.ofThisProgram()
        case .given(let entitlements): entitlements
        case .unchecked: nil
        }
    }
}
