internal import AppGroups
internal import KeyVault
internal import SealedState

/// The roster's file in the container against the roster that was accepted last.
struct RosterInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        guard let standing = seen.scope.store?.rosterStanding else { return [] }
        let detail: String
        switch standing.condition {
        case .current: return []
        case .missing: detail = "There is no file."
        case .older(let version): detail = "It has version \(version)."
        case .forked: detail = "It has the version of the accepted one and other bytes."
        case .refused(let error): detail = error.reason
        }
        let accepted = standing.roster.map { "Version \($0.roster.version) was accepted and goes on." }
        let rest = accepted ?? "No roster was ever accepted: every record is refused."
        return [
            AuditCheck.rosterNotCurrent.finding(
                at: FindingPlace(ContainerLayout.roster, in: seen.scope), "\(detail) \(rest)")
        ]
    }
}
