internal import Glibc
internal import SharedFiles

/// Filters findings that the group's programs refuse a vault or a container if a finding on the same place already
/// gives the mode or owner as the reason: one fact, one finding, one command.
struct Refusals {
    let scope: AuditScope

    /// Returns the findings without those that others among them, or those of the container's own directories, explain.
    func unexplained(_ findings: [Finding]) -> [Finding] { findings.filter { !isExplained($0, by: findings) } }

    private func isExplained(_ refusal: Finding, by findings: [Finding]) -> Bool {
        guard let reasons = Self.reasons[refusal.id] else { return false }
        let place = Self.resolved(refusal.path)
        if findings.contains(where: { reasons.contains($0.id) && Self.resolved($0.path) == place }) { return true }
        return refusal.id == AuditCheck.containerRefused.id && isExplainedInside(place)
    }

    /// The explaining checks by the id of the refusal.
    private static let reasons: [String: Set<String>] = [
        AuditCheck.vaultRefused.id: [
            AuditCheck.vaultMode.id, AuditCheck.keyFileMode.id, AuditCheck.ownerForeign.id,
            AuditCheck.ancestorWritable.id,
        ],
        AuditCheck.containerRefused.id: [AuditCheck.ancestorWritable.id],
    ]

    /// Returns whether the inspection of the container gives the same finding for one of its directories.
    private func isExplainedInside(_ place: String) -> Bool {
        guard place == scope.realPath || place.hasPrefix(scope.realPath + "/") else { return false }
        let path = place == scope.realPath ? "." : String(place.utf8.dropFirst(scope.realPath.utf8.count + 1)) ?? place
        guard let facts = try? scope.root.attributes(path) else { return false }
        let entry = ContainerEntry(path: path, attributes: facts, error: nil)
        return !PermissionInspector().inspect(AuditSubject(entry, facts, .directory), in: scope).isEmpty
    }

    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}
