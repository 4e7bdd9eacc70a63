internal import SharedFiles

/// One thing that `repair` would do.
struct Repair {
    enum Kind: String {
        /// Removes a value that a writer left half-way.
        case removeTemporary
        /// Gives a file its name back that an interrupted import had set aside.
        case giveNameBack
        /// Sets aside what lies in the lock file's place.
        case setLockAside
        /// Makes the lock file, with the mode that the container has.
        case makeLock
        /// Goes on with a rotation.
        case resumeRotation
        /// Wipes the plaintext that a killed edit left in memory.
        case wipeEdit
        /// Removes copies of refused blobs that were asked for.
        case removeQuarantined
    }

    let kind: Kind
    /// A path, or a group.
    let subject: String
    /// What will be done, as a clause.
    let plan: String
    /// Does it.
    let perform: () throws(Failure) -> Void
}

/// What came of one.
struct RepairOutcome {
    let repair: Repair
    /// Nil where it was done, or only planned.
    let failure: Failure?
    let isDone: Bool

    /// For people, in six columns.
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

/// What was found, and what could not be looked at.
struct RepairPlan {
    var repairs: [Repair] = []
    /// Sentences without end mark.
    var notes: [String] = []

    static func + (a: RepairPlan, b: RepairPlan) -> RepairPlan {
        RepairPlan(repairs: a.repairs + b.repairs, notes: a.notes + b.notes)
    }
}
