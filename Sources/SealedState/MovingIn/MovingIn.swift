internal import AppGroups
internal import CryptoPrimitives
internal import SharedFiles

/// Moves plaintext that other programs left into the sealed form of a group.
///
/// Every call does the same for each file: it is sealed durably, the sealed form is opened as any reader would open it and
/// compared, and only then is the plaintext removed, durably too. Killed or cut off anywhere, the same call once more goes
/// on from there; nothing is lost, nothing is there twice. What lies in the target's place and differs is a conflict.
///
/// Removing a file does not erase it: `docs/moving-in.md` says what is left on the disk. Programs that still write the
/// plaintext are to be ended first.
public struct MovingIn: Sendable {
    /// Where it goes.
    public let store: SealedStore
    /// How it is done.
    public let options: MovingInOptions

    /// Into a store, with the given options.
    public init(to store: SealedStore, options: MovingInOptions = MovingInOptions()) {
        self.store = store
        self.options = options
    }

    /// Moves a file of JSON, or a binary property list, into a record. Its bytes stay as they are, but for the dates.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - name: The record's name.
    ///   - schemaVersion: The version of the record's type that reads these bytes.
    ///   - dates: Keys of the JSON, at any depth, whose numbers are seconds since 2001, as Foundation's `JSONEncoder` writes
    ///     dates: they become the text that records have.
    /// - Throws: `StoreError`: `.sourceUnusable`, `.sourceChanged`, `.conflict`, `.sourceKept`, `.verificationFailed`, and
    ///   those of writing and reading a record. After all but `.durabilityUnknown` the plaintext is as it was.
    public func record(
        _ path: String, as name: String, schemaVersion: UInt32 = 1, dates: Set<String> = []
    ) throws(StoreError) -> MovedItem {
        let plan = RecordPlan(name: name, schemaVersion: schemaVersion, dates: dates)
        guard let source = try source(path, orDone: { () throws(StoreError) in try hasRecord(name) }) else {
            return MovedItem(path, .record, name, .alreadyMoved)
        }
        return try move(source, plan)
    }

    /// Moves a file that was sealed with AES-256-GCM, in CryptoKit's combined form, into a record.
    ///
    /// - Parameters:
    ///   - path: The file: nonce, ciphertext and tag.
    ///   - key: Its key.
    ///   - name: The record's name.
    ///   - schemaVersion: The version of the record's type that reads these bytes.
    ///   - dates: As in `record`.
    /// - Throws: `StoreError` as `record`; `.wrongKey`; `.cipherUnavailable`.
    public func aesGCM(
        _ path: String, key: MovingInKey, as name: String, schemaVersion: UInt32 = 1, dates: Set<String> = []
    ) throws(StoreError) -> MovedItem {
        let plan = RecordPlan(name: name, schemaVersion: schemaVersion, dates: dates, key: key)
        guard let source = try source(path, orDone: { () throws(StoreError) in try hasRecord(name) }) else {
            return MovedItem(path, .record, name, .alreadyMoved)
        }
        return try move(source, plan)
    }

    /// Moves a file of any size into a sealed file, which `sealctl decrypt` opens. Memory stays constant.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - target: The sealed file; `path` with `.sealed` behind it unless stated. It gets the permission bits of the
    ///     plaintext.
    /// - Throws: `StoreError` as `record`.
    public func file(_ path: String, to target: String? = nil) throws(StoreError) -> MovedItem {
        let target = target ?? path + ContainerLayout.recordSuffix
        let (directory, leaf) = try PlaintextSource.place(of: target)
        let isThere = { () throws(StoreError) in
            try StoreError.onFiles(StoreError.movingIn, target) { () throws(FileError) in try directory.exists(leaf) }
        }
        guard let source = try source(path, orDone: isThere) else {
            return MovedItem(path, .stream, target, .alreadyMoved)
        }
        let place = SealedFilePlace(leaf, in: directory, besides: source.facts)
        return try Move(source: source, form: StreamForm(of: source, at: place, for: store), options: options).run()
    }
}

extension MovingIn {
    /// Opens a file; nil where it is gone and what it was to become is there.
    func source(
        _ path: String, orDone isDone: () throws(StoreError) -> Bool
    ) throws(StoreError) -> PlaintextSource? {
        do throws(StoreError) { return try PlaintextSource(path: path, isDryRun: options.isDryRun) } catch {
            guard (error.cause as? FileError)?.code == .notFound, try isDone() else { throw error }
            return nil
        }
    }

    func hasRecord(_ name: String) throws(StoreError) -> Bool {
        if case .value = try store.standing(at: store.places.place(name)) { true } else { false }
    }

    func move(_ source: PlaintextSource, _ plan: RecordPlan) throws(StoreError) -> MovedItem {
        var notes: [String] = []
        let form = try RecordForm(
            plan.payload(of: source, options, store, notes: &notes), as: plan.name, schemaVersion: plan.schemaVersion,
            in: store, from: source.name)
        var item = try Move(source: source, form: form, options: options).run()
        item.notes += notes
        return item
    }
}
