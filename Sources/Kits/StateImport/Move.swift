internal import SealedState

/// The fixed order of moving plaintext: sealed durably, read back, compared, and only then removed.
///
/// If the process is killed at any point, the plaintext, its sealed form or both exist; repeating the call completes
/// the move.
struct Move<Form: SealedForm> {
    /// The source as it was opened first.
    let source: PlaintextSource
    let form: Form
    let options: PlaintextImportOptions

    /// The parts of a source that is a database, as it was read last.
    private var database: DatabaseFiles? { form.file?.database }

    /// - Throws: `StoreError`; the plaintext is then unchanged, except after `.durabilityUnknown`.
    func run() throws(StoreError) -> MovedItem {
        if !options.keepsSource {
            try source.requireRemovable()
            try database?.requireRemovable()
        }
        var item = MovedItem(source.name, form.form, form.target, .alreadySealed)
        if try !isSealed() {
            item.outcome = options.isDryRun ? .planned : .sealed
            try form.rehearse()
            if options.isDryRun { return item }
            try form.store.requireInPlace()
            try sealUnlessSealed()
            guard try form.compare() == .same else { throw unverified }
        }
        guard !options.keepsSource, !options.isDryRun else { return item }
        // Before the removal, also if a killed call wrote the file: its name may not be on the disk yet.
        try form.makeDurable()
        // If the container was given up meanwhile, the sealed form is in the trash.
        try form.store.requireInPlace()
        // A program may have completed a transaction in the log since, and the database's own file is as before.
        try database?.requireUnchanged()
        try database?.requireClosed()
        try (form.file?.source ?? source).remove()
        item.isSourceRemoved = true
        item.notes += database?.remove() ?? []
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

    private func sealUnlessSealed() throws(StoreError) {
        do throws(StoreError) { try form.seal(replacing: options.replacesTarget) } catch {
            // With two calls for one file at once, the other one may have written the same.
            guard error.code == .conflict, try form.compare() == .same else { throw error }
        }
    }

    private var unverified: StoreError {
        StoreError(
            .verificationFailed, StoreError.plaintextImport, source.name,
            "\(form.target) does not read back as it was written.")
    }
}

/// The target of a file's contents, with the contents that are to be written.
protocol SealedForm {
    /// The store that contains the sealed form, or its keys.
    var store: SealedStore { get }
    /// The form for reports.
    var form: MovedItem.Form { get }
    /// The target for messages and reports.
    var target: String { get }
    /// The contents of a file of any size, as they were read last; `nil` for another form.
    var file: FileContents? { get }
    /// Opens the existing sealed form as any reader would, and compares it.
    func compare() throws(StoreError) -> SealedFormState
    /// Refuses contents that `seal` would refuse for their size, their structure or the container's quota. Writes
    /// nothing.
    func rehearse() throws(StoreError)
    /// Writes the contents durably. A different sealed form that was written meanwhile is a `.conflict`, unless it is
    /// to be replaced.
    func seal(replacing: Bool) throws(StoreError)
    /// Makes the existing sealed form durable, even if another process wrote it.
    func makeDurable() throws(StoreError)
}

extension SealedForm {
    var file: FileContents? { nil }
}

/// The state of a target.
enum SealedFormState: Equatable {
    case absent
    /// The same contents, authentic and readable.
    case same
    /// Different contents, described by a part of a sentence.
    case different(String)
}
