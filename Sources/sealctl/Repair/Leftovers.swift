internal import AppGroups
internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// What crashed writers and interrupted imports left in a directory tree.
struct Leftovers {
    /// A writer may be about to name what is younger.
    private static let grace: Int64 = 60_000_000_000
    private static let maximumDepth = 64

    let root: Directory
    /// Whether every file of the tree is the library's own, as in the directory of a vault.
    let isOwn: Bool

    /// The repairs, in the order of their paths.
    func repairs() -> RepairPlan {
        var plan = RepairPlan()
        root.walk(maximumDepth: Self.maximumDepth) { entry in
            if let error = entry.error {
                plan.notes.append("\(root.display(entry.path)) was not looked at: \(error.code.rawValue)")
            }
            guard let facts = entry.attributes, facts.kind == .regular else { return }
            let leaf = FilePath(entry.path).lastComponent?.string ?? entry.path
            if let aside = AsideName(leaf, of: facts) {
                plan.repairs.append(nameBack(entry.path, aside))
            } else if let name = TemporaryLeaf(leaf), Self.isOld(facts) {
                if isOurs(name, entry.path) {
                    plan.repairs.append(removal(entry.path, name, facts))
                } else {
                    plan.notes.append(
                        "\(root.display(entry.path)) looks like a left-over, and may be another program's")
                }
            }
        }
        return plan
    }

    /// One of the future is nobody's who is at work.
    private static func isOld(_ facts: FileAttributes) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - facts.modifiedNanoseconds
        return age < -grace || age >= grace
    }

    /// A pending name is no proof: other programs may use such names.
    private func isOurs(_ name: TemporaryLeaf, _ path: String) -> Bool {
        if isOwn || name.isRandom || name.target.hasSuffix(ContainerLayout.recordSuffix) { return true }
        let own = [
            ContainerLayout.quarantine, ContainerLayout.notifications, ContainerLayout.coordination,
            ContainerLayout.ipc, ContainerLayout.sockets,
        ]
        return own.contains { path.hasPrefix($0 + "/") } || name.target.hasPrefix(".sealedstate.")
    }

    private func removal(_ path: String, _ name: TemporaryLeaf, _ facts: FileAttributes) -> Repair {
        let directory = FilePath(path).removingLastComponent().string
        return Repair(
            kind: .removeTemporary, subject: root.display(path),
            plan: "remove \(root.display(path)): \(facts.size) bytes that a writer left half-way"
        ) { () throws(Failure) in
            try Failure.onFiles { () throws(FileError) in
                let parent = directory.isEmpty ? root : try root.directory(directory)
                // A live writer's file stays: it holds a lock.
                parent.removeLitter(of: try LeafName(name.target))
            }
        }
    }

    private func nameBack(_ path: String, _ aside: AsideName) -> Repair {
        let above = FilePath(path).removingLastComponent().string
        let own = above.isEmpty ? aside.leaf : "\(above)/\(aside.leaf)"
        return Repair(
            kind: .giveNameBack, subject: root.display(own),
            plan: "give \(root.display(path)) its name back: an import that was interrupted had set it aside"
        ) { () throws(Failure) in
            try Failure.onFiles { () throws(FileError) in try root.bringBack(own, from: path) }
        }
    }
}

/// A name that a new value has before it gets its own: `.NAME.new`, or `.NAME.0123456789abcdef.new` where the file system
/// has no files without a name.
struct TemporaryLeaf {
    /// The name that the value was to have.
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
