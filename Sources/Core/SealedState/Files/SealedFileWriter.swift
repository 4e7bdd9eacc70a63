internal import AppGroups
internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// Writes and deletes a sealed file in one container.
///
/// The contents are sealed, synced and named first; then the manifest is written, under its record's lock like any
/// record, and the contents of the version before are removed. A kill between two steps leaves the old file or the new
/// one, and contents that no manifest names, which `ContentSweep` removes.
struct SealedFileWriter {
    private let store: SealedStore
    private let file: SealedFileName
    private let place: RecordPlace

    private static let maximumKeyChanges = 8

    init(_ file: SealedFileName, in store: SealedStore) throws(StoreError) {
        self.store = store
        self.file = file
        place = try store.places.place(reserved: file.recordName.text)
    }

    /// Writes the file.
    ///
    /// - Parameter contents: The new contents; they are read once, also if the write is repeated in another container.
    /// - Returns: The sequence of this write.
    func write(
        _ contents: NewContents, _ attributes: SealedFiles.Attributes, _ request: WriteRequest
    ) throws(StoreError) -> UInt64 {
        try requireEarly(attributes, request)
        for _ in 0..<Self.maximumKeyChanges {
            do throws(StoreError) {
                return try commit(link(contents, attributes, request), attributes, request)
            } catch {
                if error.cause is ContentKeyChanged { continue }
                if !Self.mayBeWritten(error) { discard(contents.linked) }
                throw error
            }
        }
        discard(contents.linked)
        throw StoreError(
            .conflict, "write", file.name, "The group's keys were rotated while the contents were sealed, repeatedly.",
            advice: "Write it again when the rotation has ended.")
    }

    /// Deletes the file: the tombstone first, then the contents.
    func delete(_ request: WriteRequest) throws(StoreError) -> UInt64 {
        var request = request
        var former: ContentID?
        request.beforeSealing = { _ throws(StoreError) in former = storedContent() }
        let sequence = try store.writer.delete(at: place, request)
        remove(former)
        return sequence
    }

    /// Throws early the errors that the manifest's write would throw: sealing the contents may take minutes.
    private func requireEarly(_ attributes: SealedFiles.Attributes, _ request: WriteRequest) throws(StoreError) {
        do throws(ValidationFailure) { try SealedFiles.Attributes.check(type: attributes.type) } catch {
            throw StoreError(
                .invalid, "write", file.name, "Its attributes break a rule: \(error).",
                advice: "Correct them; the old file remains.", cause: error)
        }
        if let expiry = attributes.expiresAt, expiry.headerMilliseconds == nil {
            throw StoreError(.unencodable, "write", file.name, "Its expiry is outside the range of a header.")
        }
        _ = try store.reader.requireRight(to: place, deleting: false)
        if let fence = request.fence { _ = try store.writer.requireLease(fence) }
        guard request.condition != .always else { return }
        try store.writer.locked(place, request) { record throws(StoreError) in try record.require(request.condition) }
    }
}

// MARK: The contents

extension SealedFileWriter {
    /// Seals the contents and gives them their name, which no manifest has yet.
    private func link(
        _ contents: NewContents, _ attributes: SealedFiles.Attributes, _ request: WriteRequest
    ) throws(StoreError) -> LinkedContent {
        store.writer.refreshKeyring()
        let keys = store.reader.keys
        let protection =
            keys.isProtected(place)
            ? .whenUnlocked : attributes.protection.stated ?? store.writer.protection(at: place, SeenHeader())
        try keys.prepareKey(for: protection)
        let key = try keys.activeKey(for: protection)
        guard let former = contents.linked else {
            let content = try seal(contents.size, try contents.begin(file.name), key, request)
            contents.linked = content
            return content
        }
        // Sealed before, under a key that is not active any more or in a container that was replaced.
        if former.key.id == key.id, former.isStored(in: store) { return former }
        let content: LinkedContent
        if contents.isReadOnce {
            let (size, source): (Int, StreamSource<StoreError>)
            do throws(StoreError) { (size, source) = try former.plaintext(store.reader.keys) } catch {
                throw StoreError(
                    error.code, "write", file.name, error.reason, advice: error.advice, errno: error.errno, cause: error
                )
            }
            content = try seal(size, source, key, request)
        } else {
            content = try seal(contents.size, contents.begin(file.name), key, request)
        }
        discard(former)
        contents.linked = content
        return content
    }

    /// Removes contents, best effort, unless they are in another container, where a manifest may name them, or the
    /// stored manifest names them: that of a container that was moved away and has come back.
    private func discard(_ content: LinkedContent?) {
        guard let content, store.isInPlace, content.isStored(in: store), storedContent() != content.id else { return }
        remove(content.id)
    }

    private func seal(
        _ size: Int?, _ source: @escaping StreamSource<StoreError>, _ key: SealingKey, _ request: WriteRequest
    ) throws(StoreError) -> LinkedContent {
        let id = ContentID()
        if let size, size > BlobLayout.maximumChunkCount * BlobLayout.chunkSize {
            throw StoreError(
                .tooLarge, "write", file.name, "Its source states \(size) bytes.",
                advice: "Divide it into several files.")
        }
        if let size { try admit(id, Self.blobSize(ofContents: size)) }
        let blob = try newBlob(id, reserving: size.map(Self.blobSize) ?? 0)
        let sealed = ByteCount()
        let sink: StreamSink<StoreError> = { bytes throws(StoreError) in
            try onFiles { () throws(FileError) in try blob.append(bytes) }
            sealed.add(bytes.count)
        }
        let description = BlobDescription(
            stream: id.context(of: file, in: store.group),
            sealedAt: store.reader.options.now().headerMilliseconds ?? 1)
        let digest: StreamDigest
        do throws(StreamFailure<StoreError>) {
            // A second thread costs more than sealing small contents.
            let workers = size.map { $0 <= 1 << 20 } ?? false ? 1 : StreamWorkers.all
            digest = try StreamSealer.sealWithDigest(
                from: source, to: sink, as: description, key: key, workers: workers)
        } catch { throw refusal(error) }
        if sealed.value > size.map(Self.blobSize) ?? 0 { try admit(id, sealed.value) }
        // The size is what the source stated; a file of the kernel, or one that was cut meanwhile, has fewer bytes.
        if let size, sealed.value < Self.blobSize(ofContents: size) {
            try onFiles { () throws(FileError) in try blob.cut(to: sealed.value) }
        }
        let lock = try onFiles { () throws(FileError) in try store.reader.locks.presence(id.lock) }
        do throws(StoreError) {
            try onFiles { () throws(FileError) in try blob.commit(replacing: false, durability: request.durability) }
        } catch {
            remove(id)
            throw error
        }
        return LinkedContent(
            id: id, digest: digest, key: key, context: description.context, root: store.container.root, lock: lock)
    }

    private func newBlob(_ id: ContentID, reserving size: Int) throws(StoreError) -> NewBlob {
        let (root, sharing) = (store.container.root, store.container.sharing)
        func make() throws(FileError) -> NewBlob {
            try NewBlob(
                id.path, in: root, size: Int64(size), mode: sharing.fileMode, group: sharing.groupID)
        }
        return try onFiles { () throws(FileError) in
            do throws(FileError) { return try make() } catch {
                guard error.code == .notFound else { throw error }
                _ = try root.makeDirectory(ContainerLayout.contents, sharing: sharing)
                return try make()
            }
        }
    }

    /// Throws if the contents would exceed the container's quota; the version before does not count.
    private func admit(_ id: ContentID, _ size: Int) throws(StoreError) {
        try onFiles { () throws(FileError) in
            try store.container.quotaGate.admit(id.path, size: size) {
                let former = storedContent().flatMap { try? store.container.root.attributes($0.path) }
                return Int(former?.size ?? 0)
            }
        }
    }

    /// A name that could not be synced is no `durabilityUnknown`: the manifest is not written, so the old file is in
    /// place.
    private func onFiles<Result: ~Copyable>(_ body: () throws(FileError) -> Result) throws(StoreError) -> Result {
        do throws(FileError) { return try body() } catch {
            guard error.code == .durabilityUnknown, let number = error.errno else {
                throw StoreError(writing: error, file.name)
            }
            throw StoreError(writing: FileError(errno: number, operation: error.operation, path: error.path), file.name)
        }
    }

    private func refusal(_ failure: StreamFailure<StoreError>) -> StoreError {
        switch failure {
        case .sealing(let error): StoreError(error, "write", file.name)
        case .input(let error), .output(let error): error
        }
    }

    /// Returns the size of the blob of contents with their list of hashes.
    private static func blobSize(ofContents size: Int) -> Int {
        let chunks = (size + BlobLayout.chunkSize - 1) / BlobLayout.chunkSize
        return BlobLayout.blobSize(plaintextSize: size + 32 * chunks)
    }
}

// MARK: The manifest

extension SealedFileWriter {
    private func commit(
        _ content: LinkedContent, _ attributes: SealedFiles.Attributes, _ request: WriteRequest
    ) throws(StoreError) -> UInt64 {
        var request = request
        var former: ContentID?
        let check = request.beforeSealing
        request.beforeSealing = { key throws(StoreError) in
            try check?(key)
            // A rotation that begins after this check waits for the manifest's lock, and then finds the contents.
            guard key == content.key.id else { throw ContentKeyChanged.error(file.name) }
            // No sweep is at work while a record's lock is held; a member may have replaced the file of locks before.
            guard content.isStored(in: store) else {
                throw StoreError(
                    .file, "write", file.name, "Its new contents were removed before the manifest was written.",
                    advice: "Find out what removes \(content.id.path), and write the file again.")
            }
            former = storedContent()
        }
        let payload = try store.writer.encode(SealedFileManifest(content, attributes), named: place.name.text)
        payload.protection = attributes.protection.stated
        defer { payload.wipe() }
        let sequence = try store.writer.write(payload, at: place, request)
        if former != content.id { remove(former) }
        return sequence
    }

    /// After these errors the new record is in place, or may be; the old one may come back after a power loss.
    static func mayBeWritten(_ error: StoreError) -> Bool {
        [.durabilityUnknown, .lockLost, .outcomeUnknown].contains(error.code)
    }

    /// Returns the contents that the stored manifest names; nil if it is absent or refused.
    private func storedContent() -> ContentID? {
        do throws(StoreError) { return try store.reader.contentID(at: place) } catch { return nil }
    }

    /// Best effort: contents that stay are found by a sweep.
    private func remove(_ content: ContentID?) {
        guard let content else { return }
        try? store.container.root.remove(content.path, durability: .unsynced)
    }
}

extension RecordReader {
    /// Returns the contents that a stored manifest names, after every check that accepts nothing; nil for a deletion
    /// and without a manifest.
    func contentID(at place: RecordPlace) throws(StoreError) -> ContentID? {
        do throws(StoreError) {
            let blob = try judgedBlob(place)
            guard !blob.header.flags.contains(.tombstone) else { return nil }
            return try decodedSnapshot(of: SealedFileManifest.self, from: blob, at: place).value.id
        } catch {
            if error.code == .absent { return nil }
            throw error
        }
    }
}

/// The cause of an error: the contents were sealed under a key that is not the manifest's.
struct ContentKeyChanged: Error {
    static func error(_ name: String) -> StoreError {
        StoreError(
            .conflict, "write", name, "The group's keys were rotated while the contents were sealed.",
            cause: ContentKeyChanged())
    }
}
