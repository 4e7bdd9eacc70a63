internal import AppGroups
internal import SharedFiles

/// What errors of lower floors mean for an audit.
extension AuditError {
    init(_ error: FileError, auditing group: AppGroup?) {
        let (code, reason): (Code, String) =
            switch error.code {
            case .notFound: (group == nil ? .notFound : .containerMissing, "Nothing has that path.")
            case .notDirectory, .unsafePath: (.notADirectory, "It is a link or a file.")
            case .permissionDenied: (.permissionDenied, "The system's permissions refuse it.")
            default: (.unreadable, error.reason)
            }
        let advice = code == .notADirectory ? "Name a directory; instead of a link what it leads to." : error.advice
        self.init(code, "audit", error.path, reason, advice: advice, errno: error.errno)
    }

    init(_ error: AppGroupError, _ group: AppGroup) {
        let code: Code =
            switch error.code {
            case .containerMissing, .containerAway: .containerMissing
            case .notADirectory: .notADirectory
            case .invalidHome, .homeUnavailable: .invalidHome
            case .notEntitled, .malformedEntitlements, .unresolvedVariable, .unusableEntitlements: .notEntitled
            default: error.underlying?.code == .permissionDenied ? .permissionDenied : .unreadable
            }
        self.init(code, "audit", error.subject, error.reason, advice: error.advice, errno: error.errno)
    }

    /// The given home, or the one of the environment.
    static func resolving(_ home: GroupsHome?) throws(AuditError) -> GroupsHome {
        if let home { return home }
        do throws(AppGroupError) { return try GroupsHome.current() } catch {
            throw AuditError(.invalidHome, "audit", error.subject, error.reason, advice: error.advice)
        }
    }
}
