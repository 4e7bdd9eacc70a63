internal import AppGroups
internal import SharedFiles

/// The lock file of a container: it must be a file, and is best made by whoever owns the container.
enum LockRepair {
    static func plan(for container: GroupContainer) -> RepairPlan {
        let name = ContainerLayout.lockFile
        do throws(FileError) {
            let facts = try container.root.attributes(name)
            return facts.kind == .regular ? RepairPlan() : RepairPlan(repairs: [settingAside(container, facts.kind)])
        } catch {
            guard error.code == .notFound else { return RepairPlan(notes: [Failure(error).message]) }
            return wasWritten(container) ? RepairPlan(repairs: [making(container)]) : RepairPlan()
        }
    }

    /// Whoever wrote a record took the lock: then the file was there.
    private static func wasWritten(_ container: GroupContainer) -> Bool {
        let records = try? container.root.directory(ContainerLayout.records).entries()
        return records?.isEmpty == false
    }

    private static func making(_ container: GroupContainer) -> Repair {
        let root = container.root
        return Repair(
            kind: .makeLock, subject: root.display(ContainerLayout.lockFile),
            plan: "make the lock file \(root.display(ContainerLayout.lockFile))"
        ) { () throws(Failure) in try make(root) }
    }

    /// Moved, not removed: nobody knows whose it is.
    private static func settingAside(_ container: GroupContainer, _ kind: FileKind) -> Repair {
        let root = container.root
        let aside = "\(ContainerLayout.lockFile).aside-\(Timestamp.now.milliseconds)"
        return Repair(
            kind: .setLockAside, subject: root.display(ContainerLayout.lockFile),
            plan:
                "move the \(kind.rawValue) in the place of the lock file to \(root.display(aside)), and make the lock file"
        ) { () throws(Failure) in
            try Failure.onFiles { () throws(FileError) in
                try root.move(ContainerLayout.lockFile, to: root, as: aside)
            }
            try make(root)
        }
    }

    private static func make(_ root: Directory) throws(Failure) {
        try Failure.onFiles { () throws(FileError) in
            let lock = LockFile(directory: root, name: ContainerLayout.lockFile, mode: root.fileMode)
            let held = try lock.acquire(.whole, .exclusive, timeout: .seconds(5))
            held.unlock()
        }
    }
}
