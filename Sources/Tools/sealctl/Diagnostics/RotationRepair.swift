internal import AppGroups
internal import SealedState

/// A rotation that was interrupted.
struct RotationRepair {
    let group: AppGroup
    let keyOptions: KeyOptions

    /// Needs the vault; where that does not open, a note says so.
    func plan() -> RepairPlan {
        do throws(Failure) {
            let store = try keyOptions.openStore(of: group)
            let status = try Failure.onStore { () throws(StoreError) in try store.rotationStatus() }
            guard status.isRotating else { return RepairPlan() }
            let unheld = try UnheldBlobs(in: store)
            guard unheld.isEmpty else { return RepairPlan(notes: ["a rotation waits: \(unheld.hint.clause)"]) }
            return RepairPlan(repairs: [resuming(store)])
        } catch {
            return RepairPlan(notes: ["whether a rotation was interrupted is not known: \(error.message)"])
        }
    }

    private func resuming(_ store: SealedStore) -> Repair {
        Repair(
            kind: .resumeRotation, subject: group.identifier,
            plan: "go on with the rotation of \(group.identifier): reseal what is left under the new key"
        ) { () throws(Failure) in
            let meter = Progress("resealing", total: nil)
            let report = try Failure.onStore { () throws(StoreError) in
                try store.rotate { meter.show("\($0.done) of \($0.total) blobs, walk \($0.pass)") }
            }
            guard report.isCompleted else {
                throw Failure(
                    .temporary, "rotationNotCompleted", "the rotation of \(group.identifier) is not completed",
                    hint: "See what is in the way: sealctl vault rotate --status.")
            }
        }
    }
}
