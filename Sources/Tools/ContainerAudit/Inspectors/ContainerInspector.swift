/// Everything that an audit saw of a container, for what only the whole of it tells.
struct SeenContainer: Sendable {
    /// Every file, by path.
    let files: [AuditedFile]
    /// Every name that was listed, the container itself not among them.
    let entries: ContainerEntries.List
    let scope: AuditScope

    /// The records that are there: sealed, in their place, and no marks of a deletion.
    var records: [(name: String, file: AuditedFile, facts: SealedFacts)] {
        files.compactMap { file in
            guard file.kind == .sealedRecord, let facts = file.record, !facts.isDeleted, let name = facts.name else {
                return nil
            }
            return (name, file, facts)
        }
    }
}

/// Looks at a container as a whole, once every file was examined. A new family of such checks is one more of these.
protocol ContainerInspector: Sendable {
    /// What is wrong; empty where nothing is.
    func conclude(_ seen: SeenContainer) -> [Finding]
}

/// The inspectors of whole containers, in the order in which they are asked.
enum ContainerInspectors {
    static let all: [any ContainerInspector] = [
        ReachInspector(), ShareInspector(), HardLinkInspector(), KeyringInspector(), VaultItemInspector(),
        RecordHabitInspector(),
        RegistryInspector(), RosterInspector(),
    ]

    /// What all of them find.
    static func findings(files: [AuditedFile], entries: ContainerEntries.List, scope: AuditScope) -> [Finding] {
        let seen = SeenContainer(files: files, entries: entries, scope: scope)
        return all.flatMap { $0.conclude(seen) }
    }
}
