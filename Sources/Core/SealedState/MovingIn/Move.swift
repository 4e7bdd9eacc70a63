/// The one order in which plaintext is moved: sealed durably, read back, compared, and only then removed.
///
/// Killed anywhere, the plaintext is there, or its sealed form is, or both; the same call once more goes on from there.
struct Move<Form: SealedForm> {
    let source: PlaintextSource
    let form: Form
    let options: MovingInOptions

    /// - Throws: `StoreError`; the plaintext is as it was then, but for `.durabilityUnknown`.
    func run() throws(StoreError) -> MovedItem {
        if !options.keepsSource { try source.requireRemovable() }
        var item = MovedItem(source.name, form.form, form.target, .alreadySealed)
        if try !isSealed() {
            item.outcome = options.isDryRun ? .planned : .sealed
            try form.rehearse()
            if options.isDryRun { return item }
            try form.store.requireInPlace()
            try sealUnlessSomebodyElseDid()
            guard try form.compare() == .same else { throw unverified }
        }
        guard !options.keepsSource, !options.isDryRun else { return item }
        // Before the removal, also of what an earlier call wrote and was killed at: its name may not be on the disk yet.
        try form.makeDurable()
        // What was sealed into a container that was given up meanwhile lies in the trash.
        try form.store.requireInPlace()
        try source.remove()
        item.isSourceRemoved = true
        return item
    }

    private func isSealed() throws(StoreError) -> Bool {
        switch try form.compare() {
        case .same: return true
        case .absent: return false
        case .different(let reason):
            if options.replacesTarget { return false }
            throw .occupied(source.name, form.target, reason)
        }
    }

    private func sealUnlessSomebodyElseDid() throws(StoreError) {
        do throws(StoreError) { try form.seal(replacing: options.replacesTarget) } catch {
            // Two calls for one file at once: the other one may have written the same.
            guard error.code == .conflict, try form.compare() == .same else { throw error }
        }
    }

    private var unverified: StoreError {
        StoreError(
            .verificationFailed, StoreError.movingIn, source.name,
            "\(form.target) does not read back as it was written.")
    }
}
