internal import SealedState

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

/// The place that a file's contents go to, with what is to be there.
protocol SealedForm {
    /// Where it is sealed, or under whose keys.
    var store: SealedStore { get }
    /// As reports have it.
    var form: MovedItem.Form { get }
    /// As messages and reports have it.
    var target: String { get }
    /// Opens what is there as any reader would, and compares it.
    func compare() throws(StoreError) -> SealedFormState
    /// Refuses what `seal` would refuse for its size, its structure or the container's quota. Writes nothing.
    func rehearse() throws(StoreError)
    /// Writes it durably. What is there meanwhile and differs is `.conflict`, unless it is to be replaced.
    func seal(replacing: Bool) throws(StoreError)
    /// Makes what is there durable, whoever wrote it.
    func makeDurable() throws(StoreError)
}

/// What lies in a target's place.
enum SealedFormState: Equatable {
    case absent
    /// The same contents, authentic and readable.
    case same
    /// Something else, as a part of a sentence.
    case different(String)
}
