internal import AppGroups
internal import AuditReports
internal import Glibc
internal import SealedState
internal import SharedFiles

/// An action of `repair`.
struct Repair {
    enum Kind: String {
        /// Removes a temporary file that a writer left.
        case removeTemporary
        /// Restores the name of a file that an interrupted import had set aside.
        case giveNameBack
        /// Sets aside a file of another kind, or with a second name, under the lock file's name.
        case setLockAside
        /// Creates the lock file, with the container's mode.
        case makeLock
        /// Continues a rotation.
        case resumeRotation
        /// Wipes the plaintext that a killed edit left in memory.
        case wipeEdit
        /// Removes copies of refused blobs, on request.
        case removeQuarantined
    }

    let kind: Kind
    /// A path, or a group.
    let subject: String
    /// The action, as a clause.
    let plan: String
    /// Performs the action.
    let perform: () throws(Failure) -> Void
}

/// The outcome of one repair.
struct RepairOutcome {
    let repair: Repair
    /// The failure; `nil` if the repair was done, or only planned.
    let failure: Failure?
    let isDone: Bool

    /// The outcome as a word for people, in six columns.
    var word: String {
        guard let failure else { return isDone ? "done  " : "would " }
        return failure.status == .temporary ? "left  " : "failed"
    }

    var json: JSONText {
        .object([
            ("action", .string(repair.kind.rawValue)), ("subject", .string(repair.subject)),
            ("done", .bool(isDone)), ("code", .optional(failure?.code)), ("reason", .optional(failure?.message)),
        ])
    }
}

/// The planned repairs, and the places that could not be examined.
struct RepairPlan {
    var repairs: [Repair] = []
    /// Sentences without an end mark.
    var notes: [String] = []

    static func + (a: RepairPlan, b: RepairPlan) -> RepairPlan {
        RepairPlan(repairs: a.repairs + b.repairs, notes: a.notes + b.notes)
    }
}

/// Plaintext that a killed `sealctl edit` left in memory.
enum EditRepair {
    static func plan() -> RepairPlan { RepairPlan(repairs: MemoryLeftovers.find().map(wiping)) }

    private static func wiping(_ leftover: MemoryLeftovers.Leftover) -> Repair {
        Repair(
            kind: .wipeEdit, subject: leftover.path,
            plan: "wipe \(leftover.path), which a killed edit left in memory"
        ) { () throws(Failure) in
            leftover.remove()
            guard access(leftover.path, F_OK) != 0, errno == ENOENT else {
                throw Failure(
                    .temporary, "inUse",
                    "\(leftover.path) was not removed: an edit is using it, or it cannot be removed",
                    hint: "Try again when the edit has ended.")
            }
        }
    }
}

/// Copies of refused blobs, which are kept until a person removes them.
struct QuarantineRepair {
    let container: GroupContainer
    /// The minimum age; `nil` keeps all copies.
    let age: Lifetime?

    func plan() -> RepairPlan {
        guard let directory = try? container.root.directory(ContainerLayout.quarantine),
            let entries = try? directory.entries()
        else { return RepairPlan() }
        guard let age else {
            let count = entries.count
            let note = "\(count) files are in quarantine; --quarantine-older-than 30d removes old ones"
            return RepairPlan(notes: count == 0 ? [] : [note])
        }
        let now = Int64(Timestamp.now.milliseconds)
        return RepairPlan(
            repairs: entries.compactMap { entry in
                guard let facts = try? directory.attributes(entry.name), facts.kind == .regular,
                    now - facts.modifiedNanoseconds / 1_000_000 >= Int64(age.seconds) * 1000
                else { return nil }
                return removal(entry.name, directory)
            })
    }

    private func removal(_ name: String, _ directory: Directory) -> Repair {
        Repair(
            kind: .removeQuarantined, subject: directory.display(name),
            plan: "remove \(directory.display(name)) from quarantine"
        ) { () throws(Failure) in
            try Failure.onFiles { () throws(FileError) in try directory.remove(name, durability: .durable) }
        }
    }
}

/// A rotation that was interrupted.
struct RotationRepair {
    let group: AppGroup
    let keyOptions: KeyOptions

    /// Returns the plan. It requires the vault; if the vault does not open, the plan contains a note.
    func plan() -> RepairPlan {
        do throws(Failure) {
            let store = try keyOptions.openStore(of: group)
            let status = try Failure.onStore { () throws(StoreError) in try store.rotationStatus() }
            guard status.isRotating else { return RepairPlan() }
            let unheld = try UnknownKeyBlobs(in: store)
            guard unheld.isEmpty else { return RepairPlan(notes: ["a rotation is pending: \(unheld.hint.clause)"]) }
            return RepairPlan(repairs: [resuming(store)])
        } catch {
            return RepairPlan(notes: ["it is not known whether a rotation was interrupted: \(error.message)"])
        }
    }

    private func resuming(_ store: SealedStore) -> Repair {
        Repair(
            kind: .resumeRotation, subject: group.identifier,
            plan: "continue the rotation of \(group.identifier): reseal the remaining blobs under the new key"
        ) { () throws(Failure) in
            let meter = Progress("resealing", total: nil)
            let report = try Failure.onStore { () throws(StoreError) in
                try store.rotate { meter.show("\($0.done) of \($0.total) blobs, walk \($0.pass)") }
            }
            guard report.isCompleted else {
                throw Failure(
                    .temporary, "rotationNotCompleted", "the rotation of \(group.identifier) is not completed",
                    hint: "See the obstacles: sealctl vault rotate --status.")
            }
        }
    }
}

/// The lock file of a container. It must be a regular file, and is best created by the container's owner.
enum LockRepair {
    static func plan(for container: GroupContainer) -> RepairPlan {
        let name = ContainerLayout.lockFile
        do throws(FileError) {
            let facts = try container.root.attributes(name)
            guard facts.kind == .regular else {
                let file = "the \(facts.kind.rawValue) in the lock file's place"
                return RepairPlan(repairs: [settingAside(container, file)])
            }
            guard facts.nlink > 1 else { return RepairPlan() }
            return RepairPlan(repairs: [settingAside(container, "the lock file, which has a second name,")])
        } catch {
            guard error.code == .notFound else { return RepairPlan(notes: [Failure(error).message]) }
            return wasWritten(container) ? RepairPlan(repairs: [making(container)]) : RepairPlan()
        }
    }

    /// Returns `true` if the container has records. Their writers took the lock, so the lock file existed.
    private static func wasWritten(_ container: GroupContainer) -> Bool {
        let records = try? container.root.directory(ContainerLayout.records).entries()
        let hasBackend = (try? container.root.exists(ContainerLayout.backend)) == true
        return hasBackend || records?.isEmpty == false
    }

    private static func making(_ container: GroupContainer) -> Repair {
        let root = container.root
        return Repair(
            kind: .makeLock, subject: root.display(ContainerLayout.lockFile),
            plan: "create the lock file \(root.display(ContainerLayout.lockFile))"
        ) { () throws(Failure) in try make(root) }
    }

    /// Returns a repair that moves the file, because its owner is unknown.
    ///
    /// - Parameter file: The file, as a part of a sentence.
    private static func settingAside(_ container: GroupContainer, _ file: String) -> Repair {
        let root = container.root
        let aside = "\(ContainerLayout.lockFile).aside-\(Timestamp.now.milliseconds)"
        return Repair(
            kind: .setLockAside, subject: root.display(ContainerLayout.lockFile),
            plan: "move \(file) to \(root.display(aside)), and create the lock file"
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
