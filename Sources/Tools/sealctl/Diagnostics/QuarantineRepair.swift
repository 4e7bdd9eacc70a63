internal import AppGroups
internal import SharedFiles

/// Copies of refused blobs, which are kept until a person has them removed.
struct QuarantineRepair {
    let container: GroupContainer
    /// How old they have to be; nil keeps them all.
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
