public import FoundationEssentials
internal import KeyVault
internal import SealedBackends
package import Sealing
public import SharedFiles
internal import Synchronization

extension SealedStore {
    /// The group's sealed files: contents of any size, with the properties of records.
    public var files: SealedFiles { SealedFiles(store: self) }
}

/// The sealed files of one group: contents of any size under a name, with everything that a record has.
///
/// A file is a manifest and contents. The manifest is a record: it has the file's sequence, expiry and signature, and a
/// deletion leaves a tombstone. The contents are a stream that the manifest vouches for. A write replaces both: readers
/// get the old file or the new one, whole, and an open handle keeps its version. `docs/guides/files.md` has the details.
///
/// A name has the form of a record's name, with at most 6 segments: `reports/2026.pdf`. Parameters that the calls share
/// with records are described at `SealedStore`.
public struct SealedFiles: Sendable {
    /// The group's store.
    public let store: SealedStore

    /// The largest number of contents in a container of which writers look for leftovers by themselves.
    private static let maximumSweptContents = 1000

    /// Makes a call on a file in the group's present container.
    func onFile<Result: ~Copyable>(
        _ name: String, _ body: (SealedFileName, SealedStore) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let file = try SealedFileName(name)
        do throws(StoreError) {
            return try store.onPresentContainer { store throws(StoreError) in try body(file, store) }
        } catch { throw error.about(file: name) }
    }

    /// Writes a file, and then removes contents that killed writers have left, once for each store.
    func write(
        _ contents: NewContents, _ name: String, _ attributes: SealedFiles.Attributes, _ request: WriteRequest
    ) throws(StoreError) -> UInt64 {
        let sequence: UInt64
        do throws(StoreError) {
            sequence = try onFile(name) { file, store throws(StoreError) in
                try SealedFileWriter(file, in: store).write(contents, attributes, request)
            }
        } catch {
            if contents.linked != nil { store.hasSwept.store(false, ordering: .relaxed) }
            throw error
        }
        sweepOnce(request)
        return sequence
    }

    func delete(_ name: String, _ request: WriteRequest) throws(StoreError) -> UInt64 {
        let sequence = try onFile(name) { file, store throws(StoreError) in
            try SealedFileWriter(file, in: store).delete(request)
        }
        sweepOnce(request)
        return sequence
    }

    /// Best effort: the write is made, and leftovers harm no reader.
    private func sweepOnce(_ request: WriteRequest) {
        guard store.hasSwept.exchange(true, ordering: .relaxed) == false else { return }
        _ = try? store.onPresentContainer { store throws(StoreError) in
            let sweep = ContentSweep(store)
            return sweep.isNeeded(atMost: Self.maximumSweptContents) ? try sweep.run(request) : 0
        }
    }

    func purge(_ name: String, _ request: WriteRequest) throws(StoreError) {
        try onFile(name) { file, store throws(StoreError) in
            try store.writer.purge(at: store.places.place(reserved: file.recordName.text), request)
        }
    }

    func removeLeftovers(_ request: WriteRequest) throws(StoreError) -> Int {
        try store.onPresentContainer { store throws(StoreError) in try ContentSweep(store).run(request) }
    }
}

/// Reading. No call takes a lock.
extension SealedFiles {
    /// The number of times that a file that is replaced while it is opened is opened again.
    private static let maximumReopenings = 16

    /// Opens the present version of a file.
    ///
    /// - Throws: `StoreError` with the reason why there is no file to believe: that of its manifest, as a read of a
    ///   record, or that of its contents: `.missing`, `.tampered`, `.wrongName`.
    public func open(_ name: String) throws(StoreError) -> SealedFileHandle {
        try onFile(name) { file, store throws(StoreError) in
            let place = try store.places.place(reserved: file.recordName.text)
            var previous: ContentID?
            for _ in 0..<Self.maximumReopenings {
                let snapshot = try manifest(at: place, in: store)
                do throws(StoreError) { return try SealedFileHandle(file, snapshot, in: store) } catch {
                    // The contents of a version that was replaced are removed: the manifest was read before.
                    let id = snapshot.value.id
                    guard error.code == .missing, id != previous else {
                        if error.isRejection { store.options.onRejection?(error) }
                        throw error
                    }
                    previous = id
                }
            }
            throw StoreError(.file, "read", name, "It was replaced each time it was opened.", advice: "Try again.")
        }
    }

    /// Returns the manifest of a file, with its provenance; the contents are not opened.
    ///
    /// - Throws: `StoreError`, as a read of a record.
    public func info(of name: String) throws(StoreError) -> RecordSnapshot<SealedFileManifest> {
        try onFile(name) { file, store throws(StoreError) in
            try manifest(at: store.places.place(reserved: file.recordName.text), in: store)
        }
    }

    private func manifest(
        at place: RecordPlace, in store: SealedStore
    ) throws(StoreError) -> RecordSnapshot<SealedFileManifest> {
        do throws(StoreError) { return try store.reader.checkedSnapshot(of: SealedFileManifest.self, at: place) } catch
        {
            // Never the last good manifest: its contents are removed when it is replaced.
            if store.isInPlace { store.reader.notice(error, at: place) }
            throw error
        }
    }

    /// Returns the contents of a file: all or nothing.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - limit: The largest size in bytes that is read; 1 GiB unless stated.
    /// - Throws: `StoreError`, as `open`; `.tooLarge`.
    public func read(_ name: String, upTo limit: Int = 1 << 30) throws(StoreError) -> [UInt8] {
        try open(name).read(upTo: limit)
    }

    /// Returns a range of the contents.
    ///
    /// - Throws: `StoreError`, as `open`; `.invalidRange` for a range that is not within the contents.
    public func read(_ name: String, _ range: Range<Int>) throws(StoreError) -> [UInt8] {
        try open(name).read(range)
    }

    /// Lists the files by name, as `SealedStore.list` lists records: with the verified headers of their manifests.
    /// Deleted files are included, and marked.
    public func list(
        prefix: String = "", after name: String? = nil, limit: Int = .max
    ) throws(StoreError) -> [RecordListing] {
        let listings = try store.list(
            includingReserved: true, prefix: SealedFileName.namePrefix + prefix,
            after: name.map { SealedFileName.namePrefix + $0 }, limit: limit)
        return listings.map(Self.renamed)
    }

    private static func renamed(_ listing: RecordListing) -> RecordListing {
        listing.renamed(String(listing.name.dropFirst(SealedFileName.namePrefix.count)))
    }

    /// Lists the files that this user can list; see `SealedStore.listReadable`.
    package func listReadable(
        prefix: String
    ) throws(StoreError) -> (files: [RecordListing], unreadable: [StoreError]) {
        let (listings, unreadable) = try store.listReadable(
            includingReserved: true, prefix: SealedFileName.namePrefix + prefix)
        return (listings.map(Self.renamed), unreadable)
    }

    /// Watches a file: returns its present manifest, then every change; see `SealedStore.updates`.
    ///
    /// - Throws: `StoreError`: `.invalidName`, `.invalidCursor`, `.watchLimit`.
    public func updates(
        of name: String, from cursor: UpdateCursor? = nil
    ) throws(StoreError) -> RecordUpdates<SealedFileManifest> {
        let file = try SealedFileName(name)
        return try store.updates(
            of: SealedFileManifest.self, at: store.places.place(reserved: file.recordName.text), from: cursor)
    }
}

extension SealedFiles {
    /// Watches files: the present state of each, then every change, with the reason of each refusal; see
    /// `SealedStore.changes`. The names of the changes are those of the files.
    ///
    /// - Parameter names: The files; nil for all present and future ones.
    /// - Throws: `StoreError`: `.invalidName`, `.watchLimit`, `.file`.
    public func changes(of names: [String]? = nil) throws(StoreError) -> RecordChanges {
        var records: [String]?
        for name in names ?? [] { records = (records ?? []) + [try SealedFileName(name).recordName.text] }
        return try RecordChanges(store, of: names == nil ? nil : records ?? [], .files)
    }
}

/// Writing. Every call waits for the lock of the file's manifest, at most as long as its time limit, when the contents
/// are sealed.
extension SealedFiles {
    /// Creates or replaces a file with bytes in memory.
    ///
    /// - Parameters:
    ///   - bytes: The contents.
    ///   - name: The file's name.
    ///   - attributes: The media type, dates and class; none unless stated.
    ///   - condition: The required stored state; any unless stated. It is checked before the contents are sealed, and
    ///     again with the write.
    ///   - fence: The lease that the caller relies on.
    ///   - durability: The store's unless stated.
    ///   - timeout: The time limit for the lock; the store's limit unless stated.
    /// - Returns: The sequence of this write.
    /// - Throws: `StoreError`, as a write of a record; after every error but `.durabilityUnknown`, `.lockLost` and
    ///   `.outcomeUnknown` the old file remains.
    @discardableResult
    public func write(
        _ bytes: some ContiguousBytes & Sendable, named name: String,
        _ attributes: SealedFiles.Attributes = SealedFiles.Attributes(), onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        let request = store.writer.request(
            onlyIf: condition, holding: fence, durability: durability, timeout: timeout)
        return try write(NewContents(bytes), name, attributes, request)
    }

    /// Creates or replaces a file with the rest of an open file, pipe or socket, in constant memory.
    ///
    /// - Parameters:
    ///   - descriptor: The open file, which is read from its position to its end and stays open.
    ///   - name: The file's name.
    ///   - attributes: The media type, dates and class; none unless stated.
    ///   - condition: The required stored state; any unless stated.
    ///   - fence: The lease that the caller relies on.
    ///   - durability: The store's unless stated.
    ///   - timeout: The time limit for the lock; the store's limit unless stated. Reading has no limit.
    /// - Returns: The sequence of this write.
    /// - Throws: `StoreError`, as the form with bytes; `.file` if the descriptor cannot be read.
    @discardableResult
    public func write(
        fromDescriptor descriptor: Int32, named name: String,
        _ attributes: SealedFiles.Attributes = SealedFiles.Attributes(), onlyIf condition: WriteCondition = .always,
        holding fence: LeaseFence? = nil, durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        let request = store.writer.request(
            onlyIf: condition, holding: fence, durability: durability, timeout: timeout)
        return try write(NewContents(descriptor: descriptor), name, attributes, request)
    }

    /// Deletes a file: a tombstone takes the place of its manifest, and its contents are removed.
    ///
    /// - Returns: The tombstone's sequence.
    /// - Throws: `StoreError`, as `SealedStore.delete`; `.absent` when there is no file to delete.
    @discardableResult
    public func delete(
        _ name: String, onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil,
        durability: Durability? = nil, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        try delete(
            name, store.writer.request(onlyIf: condition, holding: fence, durability: durability, timeout: timeout))
    }

    /// Removes the tombstone of a deleted file; see `SealedStore.purge`.
    public func purge(_ name: String, timeout: Duration? = nil) throws(StoreError) {
        try purge(name, store.writer.request(durability: .durable, timeout: timeout))
    }

    /// Removes contents that writers have left that were killed: contents that no manifest names. A store looks for
    /// them once by itself, after its first write, in a container with up to 1,000 contents.
    ///
    /// Contents of a file whose manifest is refused or locked stay. Writers of all records wait meanwhile.
    /// - Parameter timeout: The time limit for the locks; the store's limit unless stated.
    /// - Returns: The number of contents that were removed.
    /// - Throws: `StoreError` `.lockTimeout`, `.file`, `.permissionDenied`.
    @discardableResult
    public func removeLeftovers(timeout: Duration? = nil) throws(StoreError) -> Int {
        try removeLeftovers(store.writer.request(timeout: timeout))
    }
}

/// Calls for the import of other programs' files.
extension SealedFiles {
    /// Creates or replaces a file with contents that a closure reads; see the form with a descriptor.
    ///
    /// - Parameters:
    ///   - size: The number of bytes.
    ///   - source: Reads the next bytes, and returns 0 at the end. If it throws, nothing is written.
    package func write(
        size: Int, named name: String, _ attributes: SealedFiles.Attributes, onlyIf condition: WriteCondition,
        durability: Durability, from source: @escaping StreamSource<StoreError>
    ) throws(StoreError) {
        let request = store.writer.request(onlyIf: condition, durability: durability)
        _ = try write(NewContents(size: size, read: source), name, attributes, request)
    }

    /// Makes the stored file durable, for any writer's file: the contents before the manifest that names them.
    package func makeDurable(_ name: String) throws(StoreError) {
        try onFile(name) { file, store throws(StoreError) in
            let place = try store.places.place(reserved: file.recordName.text)
            if let id = try store.reader.contentID(at: place) {
                try StoreError.onFiles("make durable", name) { () throws(FileError) in
                    try store.container.root.makeDurable(id.path)
                }
            }
            try store.makeDurable(place)
        }
    }
}

extension SealedStore {
    /// A sealed file that readers refuse although its manifest is valid.
    package struct RefusedContents: Sendable {
        /// The file's name.
        package let name: String
        /// The path of its contents below the container.
        package let path: String
        package let error: StoreError
    }

    /// Opens the contents of each sealed file with a valid manifest, as `SealedFiles.open` does, and returns those that
    /// are refused or missing. Nothing is accepted or reported, and the contents themselves are not read.
    package func refusedContents() throws(StoreError) -> [RefusedContents] {
        try onPresentContainer { store throws(StoreError) in
            var refused: [RefusedContents] = []
            for head in try store.reader.heads(SealedFileName.namePrefix) {
                guard let record = try? RecordName(stored: head.key.name), let file = SealedFileName(manifest: record)
                else { continue }
                do throws(StoreError) { try store.judgeContents(of: file, &refused) } catch {
                    // A manifest that is refused, absent or deleted.
                    if !store.isInPlace { throw error }
                }
            }
            return refused
        }
    }

    private func judgeContents(of file: SealedFileName, _ refused: inout [RefusedContents]) throws(StoreError) {
        let place = try places.place(reserved: file.recordName.text)
        var previous: ContentID?
        while true {
            let blob = try reader.judgedBlob(place)
            if blob.header.flags.contains(.tombstone) { return }
            let snapshot = try reader.decodedSnapshot(of: SealedFileManifest.self, from: blob, at: place)
            do throws(StoreError) {
                _ = try SealedFileHandle(file, snapshot, in: self)
                return
            } catch {
                // The contents of a version that was replaced are removed: the manifest was read before.
                guard let id = snapshot.value.id, id == previous else {
                    previous = snapshot.value.id
                    if previous == nil { return }
                    continue
                }
                if error.isRejection { refused.append(RefusedContents(name: file.name, path: id.path, error: error)) }
                return
            }
        }
    }
}
