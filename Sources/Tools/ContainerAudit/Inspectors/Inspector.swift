/// Looks at one file, or directory, for what is wrong with it. A new family of checks is one more of these.
protocol Inspector: Sendable {
    /// What is wrong with the subject; empty where nothing is.
    func inspect(_ subject: AuditSubject, in scope: AuditScope) -> [Finding]
}

/// Every inspector, in the order in which findings of one file are made.
enum Inspectors {
    static let all: [any Inspector] = [
        PermissionInspector(), LinkInspector(), RecordPlaceInspector(), LockPlaceInspector(), PlaintextInspector(),
        HousekeepingInspector(),
    ]
}
