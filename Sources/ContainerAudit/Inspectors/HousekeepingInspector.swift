internal import FoundationEssentials
internal import SharedFiles

/// What was left lying about: temporaries of crashed writers, and copies in quarantine.
struct HousekeepingInspector: Inspector {
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding] {
        let place = FindingPlace(subject.path, in: scope)
        switch subject.kind {
        case .quarantined:
            return [AuditCheck.quarantinePresent.finding(at: place, "It has \(subject.attributes.size) bytes.")]
        case .temporary where isAbandoned(subject, scope):
            return [AuditCheck.leftoverTemporary.finding(at: place, "It has \(subject.attributes.size) bytes.")]
        default: return []
        }
    }

    /// Not what a writer may be about to name. One of the future is nobody's who is at work.
    private func isAbandoned(_ subject: AuditSubject, _ scope: AuditScope) -> Bool {
        let modified = Double(subject.attributes.modifiedNanoseconds) / 1e9
        let age = scope.now.timeIntervalSince1970 - modified
        let grace = Double(scope.limits.temporaryGrace.components.seconds)
        return age < -grace || age >= grace
    }
}
