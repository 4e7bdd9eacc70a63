internal import AppGroups
internal import Glibc
internal import KeyVault
internal import SealedState
internal import SharedFiles
internal import SystemPackage

/// Files that crashed writers and interrupted imports left in a directory tree.
struct Leftovers {
    /// The owner of the tree, which determines the writers and their lock.
    enum Place {
        case container(GroupContainer, of: AppGroup)
        /// A vault, whose tree contains only files of the library.
        case vault(VaultPlace)
    }

    /// The minimum age in nanoseconds. A writer may be about to rename a younger file.
    private static let grace: Int64 = 60_000_000_000
    private static let maximumDepth = 64
    private static let patience: Duration = .seconds(5)

    let root: Directory
    let place: Place

    /// The repairs, in the order of their paths.
    func repairs() -> RepairPlan {
        var plan = RepairPlan()
        root.walk(maximumDepth: Self.maximumDepth) { entry in
            if let error = entry.error {
                plan.notes.append("\(root.display(entry.path)) was not examined: \(error.code.rawValue)")
            }
            guard let facts = entry.attributes, facts.kind == .regular else { return }
            let leaf = FilePath(entry.path).lastComponent?.string ?? entry.path
            if let aside = SetAsideName(leaf, of: facts) {
                nameBack(entry.path, aside, &plan)
            } else if let name = TemporaryLeaf(leaf), Self.isOld(facts) {
                if isOurs(name, entry.path) {
                    plan.repairs.append(removal(entry.path, name, facts))
                } else {
                    plan.notes.append(
                        "\(root.display(entry.path)) looks like a leftover, but may belong to another program")
                }
            }
        }
        return plan
    }

    /// Returns `true` if a file is older than the grace period. A file with a time in the future does not belong to an
    /// active writer.
    private static func isOld(_ facts: FileAttributes) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - facts.modifiedNanoseconds
        return age < -grace || age >= grace
    }

    /// Returns `true` if the file is the library's own. A temporary name is no proof, because other programs may use
    /// such names.
    private func isOurs(_ name: TemporaryLeaf, _ path: String) -> Bool {
        if case .vault = place { return true }
        if name.isRandom || name.target.hasSuffix(ContainerLayout.recordSuffix) { return true }
        let own = [
            ContainerLayout.quarantine, ContainerLayout.notifications, ContainerLayout.coordination,
            ContainerLayout.ipc, ContainerLayout.sockets,
        ]
        return own.contains { path.hasPrefix($0 + "/") } || name.target.hasPrefix(".sealedstate.")
    }

    private func removal(_ path: String, _ name: TemporaryLeaf, _ facts: FileAttributes) -> Repair {
        let target = Self.sibling(name.target, of: path)
        return Repair(
            kind: .removeTemporary, subject: root.display(path),
            plan: "remove \(root.display(path)): \(facts.size) bytes of an interrupted write"
        ) { () throws(Failure) in
            do throws(FileError) {
                try withLock(on: target) { () throws(FileError) in try root.removeStaleFiles(path, ifStill: facts) }
            } catch {
                // A writer of the same name removes an old temporary file itself.
                if error.code == .notFound { return }
                throw left(path, error)
            }
        }
    }

    private func left(_ path: String, _ error: FileError) -> Failure {
        guard error.code == .lockTimeout || error.code == .overtaken else { return Failure(error) }
        return Failure(
            .temporary, error.code.rawValue, "\(root.display(path)) was not removed: a writer is using it",
            hint: "Try again when the writer has ended.")
    }

    /// Runs the body while holding the lock on the target. No writer of the target has a temporary file then.
    private func withLock(on target: String, _ body: () throws(FileError) -> Void) throws(FileError) {
        guard let held = try lock(on: target) else { return try body() }
        try body()
        held.unlock()
    }

    private func lock(on target: String) throws(FileError) -> HeldLock? {
        switch place {
        case .container(let container, let group):
            try RecordLock.acquire(forFile: target, of: group, in: container, timeout: Self.patience)
        case .vault(let vault): try vault.lockFile(in: root).acquire(.whole, .exclusive, timeout: Self.patience)
        }
    }

    private func nameBack(_ path: String, _ aside: SetAsideName, _ plan: inout RepairPlan) {
        let own = Self.sibling(aside.leaf, of: path)
        if (try? root.exists(own)) == true {
            plan.notes.append(
                "\(root.display(path)) was set aside by an import that was interrupted, and its name is taken: "
                    + "compare both")
            return
        }
        plan.repairs.append(
            Repair(
                kind: .giveNameBack, subject: root.display(own),
                plan: "restore the name of \(root.display(path)): an interrupted import had set it aside"
            ) { () throws(Failure) in
                do throws(FileError) { try root.restoreAside(own, from: path) } catch {
                    guard error.code == .alreadyExists else { throw Failure(error) }
                    throw Failure(
                        .duplicate, error.code.rawValue, "the name of \(root.display(path)) was taken in the meantime",
                        hint: "Compare both files; neither was changed.")
                }
            })
    }

    private static func sibling(_ leaf: String, of path: String) -> String {
        let above = FilePath(path).removingLastComponent().string
        return above.isEmpty ? leaf : "\(above)/\(leaf)"
    }
}

/// The name of a new value before it gets its final name: `.NAME.new`, or `.NAME.0123456789abcdef.new` if the file
/// system does not support unnamed files.
struct TemporaryLeaf {
    /// The final name of the value.
    let target: String
    let isRandom: Bool

    init?(_ leaf: String) {
        guard leaf.hasPrefix("."), leaf.hasSuffix(".new"), leaf.utf8.count > 5 else { return nil }
        let name = leaf.dropFirst().dropLast(4)
        let digits = name.suffix(16)
        isRandom =
            digits.count == 16 && name.count > 17 && name.dropLast(16).last == "." && digits.allSatisfy(\.isHexDigit)
        target = String(isRandom ? name.dropLast(17) : name)
    }
}
