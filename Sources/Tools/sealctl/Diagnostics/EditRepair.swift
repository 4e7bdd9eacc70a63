internal import Glibc

/// Plaintext that a killed `sealctl edit` left in memory.
enum EditRepair {
    static func plan() -> RepairPlan { RepairPlan(repairs: MemoryLeftovers.find().map(wiping)) }

    private static func wiping(_ leftover: MemoryLeftovers.Leftover) -> Repair {
        Repair(
            kind: .wipeEdit, subject: leftover.path,
            plan: "wipe \(leftover.path), which an edit that was killed left in memory"
        ) { () throws(Failure) in
            leftover.remove()
            guard access(leftover.path, F_OK) != 0, errno == ENOENT else {
                throw Failure(
                    .temporary, "inUse", "\(leftover.path) was left: an edit has it, or it cannot be removed",
                    hint: "Try again when the edit has ended.")
            }
        }
    }
}
