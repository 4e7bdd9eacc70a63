internal import AppGroups
internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import PropertyLists
internal import SealedBackends
package import Sealing
internal import SharedFiles

/// Reads the records of one container: opens a blob, makes every check of a read in the order of `ReadCheck`, and
/// reports what a write needs to know about the blob that it replaces. It takes no lock.
package final class RecordReader: Sendable {
    let group: AppGroup
    /// The container's path, for messages.
    let containerPath: String
    let options: StoreOptions
    let backend: any SealedBackend
    /// The backend, if it is that of files.
    let files: FileBackend?
    /// The backend compares the conditions of writes: another machine may write.
    let isCompared: Bool
    /// The space of the container, for a backend that has its data there and is not that of files.
    let space: BackendSpace?
    /// The container's place, and its locks.
    let anchor: ContainerAnchor
    /// The watches of records, for backends other than that of files.
    let watches: BackendWatches
    package let locks: ContainerLocks
    let places: RecordPlaces
    package let keys: RecordKeys
    /// The states that this user's programs have accepted.
    let watermarks: WatermarkTable
    /// The rights of writers; `nil` if no team key is known.
    let authority: RosterAuthority?
    let certificate: KnownCertificate
    let lastGood: LastGoodValues

    /// - Parameter creating: An empty container gets the backend of the options.
    init(
        _ container: GroupContainer, vault: Vault, authority: RosterAuthority?, options: StoreOptions, creating: Bool
    ) throws(StoreError) {
        group = container.group
        containerPath = container.path
        anchor = ContainerAnchor(of: container.root)
        locks = ContainerLocks(of: container)
        let files = FileBackend(container, at: anchor)
        let other = try Self.backend(of: container, files, locks, options.backend, creating: creating)
        self.files = other == nil ? files : nil
        backend = other ?? files
        isCompared = other?.traits.comparesConditions ?? false
        space = other == nil || options.backend?.name == nil ? nil : BackendSpace(of: container)
        watches = BackendWatches(of: backend)
        var options = options
        options.containerRecordSize = container.recordLimit
        self.options = options
        places = RecordPlaces(in: container, hasFiles: other == nil)
        keys = RecordKeys(vault: vault)
        watermarks = vault.watermarks
        self.authority = authority
        certificate = places.certificate
        lastGood = LastGoodValues()
    }

    /// Creates a reader of the same container with other options.
    init(_ reader: RecordReader, options: StoreOptions) {
        self.options = options
        (group, containerPath, places, keys) = (reader.group, reader.containerPath, reader.places, reader.keys)
        (backend, files, watches, space) = (reader.backend, reader.files, reader.watches, reader.space)
        isCompared = reader.isCompared
        (anchor, locks, certificate) = (reader.anchor, reader.locks, reader.certificate)
        (watermarks, authority, lastGood) = (reader.watermarks, reader.authority, reader.lastGood)
    }
}

/// The checks of a blob that need no type: size, shape, place, key, commitment, contents, authority and order.
extension RecordReader {
    /// The number of times a blob that was overtaken while it was read is read again.
    package static var maximumRereads: Int { 16 }

    /// Returns the blob after the checks of size, shape, place, key, commitment, contents, authority and watermark; a
    /// tombstone is an absent record.
    ///
    /// - Parameter seen: Remembers the blob, if a write is decided on it.
    package func acceptedBlob(
        at place: RecordPlace, seen: SeenHeader? = nil
    ) throws(StoreError) -> AcceptedBlob {
        var previous: Commitment?
        var attempts = 0
        while true {
            var blob = try openAuthentic(place, seen)
            let header = blob.header
            // Before the order: a blob that fails must not move the watermark of a governed name.
            blob.writer = try requireAuthority(of: blob.opened, at: place)
            if isFormer(header, accepting: true) { throw former(header, place) }
            let acceptance = watermarks.accept(blob.opened.header, at: { options.now().timeIntervalSince1970 })
            let verdict = acceptance.verdict
            blob.anchor = acceptance.anchor
            // Another thread may have accepted a newer blob after this one was read: the file has then changed since,
            // and reading it again ends the race. A blob that is still there is a replay; so is a series of old blobs
            // that keep being exchanged.
            if verdict == .replayed, header.commitment != previous, attempts < Self.maximumRereads {
                previous = header.commitment
                attempts += 1
                continue
            }
            try judge(verdict, header, place)
            guard !header.flags.contains(.tombstone) else {
                throw StoreError(.absent, "read", place.name.text, "It was deleted (sequence \(header.sequence)).")
            }
            return blob
        }
    }

    private func openAuthentic(_ place: RecordPlace, _ seen: SeenHeader?) throws(StoreError) -> AcceptedBlob {
        let limit = maximumBlobSize
        let held = try held(at: place)
        if let seen, isCompared { seen.observe(held?.bytes) }
        guard let held else { throw absent(place) }
        let blob = held.bytes
        return AcceptedBlob(opened: try openWhole(blob, "read", place, limit: limit), sealed: blob, held: held)
    }

    /// Reads the blob in a place; returns nil if there is no blob.
    func held(at place: RecordPlace, _ operation: String = "read") throws(StoreError) -> (any HeldBlob)? {
        try StoreError.onBackend(operation, place.name.text) { () throws(BackendError) in
            try backend.read(place.key, limit: maximumBlobSize + BlobOpener.signedAllowance)
        }
    }

    /// Reads the header's bytes of the blob in a place; returns nil if there is no blob.
    func head(at place: RecordPlace, _ operation: String = "read") throws(StoreError) -> [UInt8]? {
        try StoreError.onBackend(operation, place.name.text) { () throws(BackendError) in
            try backend.head(place.key)?.bytes
        }
    }

    /// Returns the beginnings of the stored blobs, by name; see `SealedBackend.scan`.
    func heads(
        _ prefix: String = "", after key: BackendKey? = nil, limit: Int = .max
    ) throws(StoreError) -> [BlobHead] {
        try StoreError.onBackend("list", group.identifier) { () throws(BackendError) in
            try backend.scan(prefix, after: key, limit: limit)
        }
    }

    /// Opens a whole blob, its epoch included.
    func openWhole(
        _ blob: [UInt8], _ operation: String, _ place: RecordPlace, limit: Int
    ) throws(StoreError) -> BlobOpener.Opened {
        let opened = try keys.withKeys(for: blob, operation, place) { keyring throws(SealingError) in
            try blob.withRawBytes { blob throws(SealingError) in
                try BlobOpener.open(blob, context: place.context, keys: keyring, limit: limit)
            }
        }
        try keys.requireCurrent(opened.header.header, operation, place)
        return opened
    }

    /// The container is the one at its path, and its records are still in this reader's backend: they can be moved.
    var isPresent: Bool {
        anchor.isInPlace && files?.isNamed != true && space?.isNamed != false && backend.isInPlace
    }

    /// The largest unsigned blob that is read; a signed one may be `BlobOpener.signedAllowance` larger.
    var maximumBlobSize: Int {
        // Clamped: a limit such as Int.max means "any", and must not overflow when the blob's size is computed.
        BlobLayout.blobSize(plaintextSize: min(max(0, options.maximumRecordSize), 1 << 40))
    }

    /// The largest unsigned blob that a writer judges before it replaces it: the container's limit may have been higher.
    var maximumJudgedSize: Int {
        max(maximumBlobSize, BlobLayout.blobSize(plaintextSize: Int(RegistryEntry.recordLimits.upperBound)))
    }

    /// Returns the error of a call whose container was removed, moved away or replaced; calls of the store follow it.
    func moved(_ operation: String, _ subject: String) -> StoreError {
        StoreError(.containerMissing, operation, subject, "\(containerPath) was removed while it was open.")
    }

    /// Returns the reason why there is no file in a record's place.
    func absent(_ place: RecordPlace) -> StoreError {
        if !isPresent { return moved("read", place.name.text) }
        guard let mark = presentMark(of: place.context.nameTag) else {
            return StoreError(.absent, "read", place.name.text, "No record of that name was written.")
        }
        if watermarks.isPurged(place.context.nameTag) {
            return StoreError(
                .absent, "read", place.name.text, "It was deleted, and the mark of the deletion was purged.")
        }
        if let authority, authority.governs(place.name.text) {
            return StoreError(
                .missing, "read", place.name.text,
                "Its file is missing without a signed deletion; sequence \(mark.sequence) had been accepted.")
        }
        return StoreError(
            .absent, "read", place.name.text,
            "Its file is missing without a deletion; sequence \(mark.sequence) had been accepted.")
    }
}

/// The checks of a read, in the order of `ReadCheck`: the cheapest and least trusting first.
extension RecordReader {
    /// Returns the value at a place after every check.
    func checkedSnapshot<Record: SealedRecord>(
        of type: Record.Type, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let blob = try acceptedBlob(at: place)
        do throws(StoreError) {
            let snapshot = try checkedSnapshot(of: type, from: blob, at: place)
            keepAsLastGood(blob.sealed, blob.header, at: place)
            return snapshot
        } catch {
            noteRefused(blob, at: place)
            throw error
        }
    }

    /// Returns the value of an accepted blob after the checks of version, structure, freshness and its own rules.
    func checkedSnapshot<Record: SealedRecord>(
        of type: Record.Type, from blob: borrowing AcceptedBlob, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let snapshot = try decodedSnapshot(of: type, from: blob, at: place)
        try checkFreshness(of: snapshot, from: blob, at: place)
        try validate(snapshot.value, named: place.name.text)
        return snapshot
    }

    /// Returns the value of an accepted blob of a readable version; freshness is not checked.
    package func decodedSnapshot<Record: SealedRecord>(
        of type: Record.Type, from blob: borrowing AcceptedBlob, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let header = blob.header
        try checkVersion(header, against: type, named: place.name.text)
        let value = try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try decode(type, from: bytes, header, named: place.name.text)
        }
        return RecordSnapshot(value: value, provenance: Provenance(header, writer: blob.writer))
    }
}

extension RecordReader {
    /// Validates a value against the record's own rules, on every read and before every write; the error lists all
    /// violations.
    ///
    /// - Parameter advice: For a value of this program's own; the code's advice unless stated.
    package func validate(_ value: some SealedRecord, named name: String, advice: String? = nil) throws(StoreError) {
        guard let failure = ValidationFailure(of: value) else { return }
        throw StoreError(
            .invalid, "validate", name, "It breaks its own rules: \(failure).", advice: advice, cause: failure)
    }
}

extension RecordReader {
    /// Returns the value in a payload of any readable version.
    func decode<Record: SealedRecord>(
        _ type: Record.Type, from bytes: UnsafeRawBufferPointer, _ header: BlobHeader, named name: String
    ) throws(StoreError) -> Record {
        try RecordDecoding(
            bytes: bytes, codec: header.codec, schemaVersion: Int(header.schemaVersion),
            limits: options.structureLimits, name: name
        ).value(of: type)
    }

    /// Throws for a payload that no decoder may receive.
    func requireSafeStructure(
        of bytes: UnsafeRawBufferPointer, codec: PayloadCodec, named name: String
    ) throws(StoreError) {
        do throws(StructureFault) { try PayloadCoding.check(bytes, codec, options.structureLimits) } catch {
            throw StoreError(error.code, "read", name, error.reason)
        }
    }
}

extension StoreError {
    /// Creates a writer's error for a payload that readers refuse.
    init(writing fault: StructureFault, named name: String) {
        let code = fault.code == .undecodable ? .unencodable : fault.code
        self.init(code, "write", name, fault.reason, advice: fault.writingAdvice)
    }
}

extension RecordReader {
    /// Throws the rejection for a verdict of the watermarks, if it is one.
    func judge(_ verdict: Watermark.Verdict, _ header: BlobHeader, _ place: RecordPlace) throws(StoreError) {
        // Returns early: the texts below cost more than all of the checks above.
        if verdict == .advances || verdict == .same { return }
        let name = place.name.text
        if verdict == .replayed, isFormer(header) { throw former(header, place) }
        let accepted = watermarks.mark(of: place.context.nameTag).map { "\($0.epoch).\($0.sequence)" } ?? "none"
        let found = "\(header.epoch).\(header.sequence)"
        switch verdict {
        case .advances, .same: return
        case .replayed:
            throw StoreError(.replayed, "read", name, "It is \(found); \(accepted) was accepted before.")
        case .forked:
            throw StoreError(.forked, "read", name, "Another blob of \(found) was accepted before.")
        case .jumps:
            throw StoreError(.sequenceJump, "read", name, "It is \(found), too far ahead of \(accepted).")
        }
    }

    private func former(_ header: BlobHeader, _ place: RecordPlace) -> StoreError {
        StoreError(
            .replayed, "read", place.name.text,
            "It is \(header.epoch).\(header.sequence), of a former container of the group.")
    }

    /// Accepts the written header as this user's state. Call it when the write is known to be finished: a durable write
    /// then also holds across a restart.
    ///
    /// - Returns: The verdict; any but `advances` and `same` means that another program wrote at the same time.
    @discardableResult
    func acknowledge(_ header: VerifiedHeader) -> Watermark.Verdict {
        watermarks.acknowledge([header], at: options.now().timeIntervalSince1970).first ?? .same
    }
}

extension RecordReader {
    /// Makes every check of a read that needs no type; nothing is accepted.
    func checkWithoutType(
        _ place: RecordPlace, _ contents: (UnsafeRawBufferPointer, PayloadCodec) throws(StoreError) -> Void
    ) throws(StoreError) {
        let blob = try examinedBlob(place)
        let header = blob.header
        try judge(verdict(on: blob.opened.header), header, place)
        guard !header.flags.contains(.tombstone) else {
            throw StoreError(.absent, "read", place.name.text, "It was deleted (sequence \(header.sequence)).")
        }
        try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try requireSafeStructure(of: bytes, codec: header.codec, named: place.name.text)
            try contents(bytes, header.codec)
        }
        try checkFreshness(of: blob, at: place)
    }

    /// Returns a blob that a read would accept, without accepting it.
    func judgedBlob(_ place: RecordPlace) throws(StoreError) -> AcceptedBlob {
        let blob = try examinedBlob(place)
        try judge(verdict(on: blob.opened.header), blob.header, place)
        return blob
    }

    private func examinedBlob(_ place: RecordPlace) throws(StoreError) -> AcceptedBlob {
        guard let held = try held(at: place) else { throw absent(place) }
        return try opened(held.bytes, at: place)
    }

    /// Opens a blob's bytes as those of a place.
    func opened(_ blob: [UInt8], at place: RecordPlace) throws(StoreError) -> AcceptedBlob {
        let opened = try openWhole(blob, "read", place, limit: maximumBlobSize)
        let writer = try requireAuthority(of: opened, at: place)
        return AcceptedBlob(opened: opened, sealed: blob, writer: writer)
    }
}

/// A blob that is authentic, in its place and in order; what it says was not looked at yet.
package struct AcceptedBlob: ~Copyable {
    /// The header to believe, and the plaintext, which is wiped with this value.
    package let opened: BlobOpener.Opened
    /// The file's bytes, as sealed.
    let sealed: [UInt8]
    /// The blob in its place; nil for bytes from elsewhere.
    let held: (any HeldBlob)?
    /// The clock at the first acceptance; unknown for a blob that the watermarks have not judged.
    var anchor = ClockAnchor.unknown

    /// The writer whose signature was verified; nil for a name that no roster governs.
    var writer: WriterID?

    package init(opened: consuming BlobOpener.Opened, sealed: [UInt8], writer: WriterID? = nil) {
        self.init(opened: opened, sealed: sealed, held: nil)
        self.writer = writer
    }

    init(opened: consuming BlobOpener.Opened, sealed: [UInt8], held: (any HeldBlob)?) {
        self.opened = opened
        self.sealed = sealed
        self.held = held
    }

    package var header: BlobHeader { opened.header.header }
}
