internal import FoundationEssentials
package import KeyVault
internal import SealedBackends
package import Sealing
internal import SharedFiles
internal import Synchronization

/// The record that distinguishes a container from the former ones of its group: `_sealed/container`.
///
/// Its sequence is higher than those of all former containers: records up to the end of its block of 1,024 are of a former
/// one and are refused. The container's own records continue after the block, and a certificate that is lost is written
/// again within it. The accepted states hold it like any record's: a certificate that is
/// removed, damaged or exchanged for an earlier one changes nothing for users who have read it.
struct ContainerCertificate: SealedRecord, Equatable {
    static let recordName = "\(RecordName.reservedSegment)/container"
    static let schemaVersion = 1
    static let protection = RecordProtection.afterFirstUnlock

    /// Sequences that are accepted although they are not above the certificate's: those of a container that was put
    /// back on purpose.
    var accepts: [Range]

    /// The sequences above `after`, up to `to`.
    struct Range: Codable, Equatable {
        var after: UInt64
        var to: UInt64

        func contains(_ sequence: UInt64) -> Bool { sequence > after && sequence <= to }
    }

    /// The certificates that one container can have without a change for its records.
    static let block: UInt64 = 1024

    /// Returns the highest sequence of former containers, by the certificate's sequence.
    static func floor(of sequence: UInt64) -> UInt64 { sequence | (block - 1) }

    /// Returns the first sequence of a certificate of another container.
    static func next(after highest: UInt64) -> UInt64 { (highest + margin) & ~(block - 1) }

    /// The distance from the highest known sequence of the former containers to the certificate's: for records that
    /// were hidden from the program that wrote it, and for writes that were under way.
    static let margin: UInt64 = 1 << 20
}

/// The sequences that records of an open container may have, as last read.
final class KnownCertificate: Sendable {
    /// The sequences of former containers.
    struct Floor: Sendable {
        /// The sequence of the certificate; 0 without one.
        var certificate: UInt64 = 0
        var accepts: [ContainerCertificate.Range] = []
        /// The container does not have the certificate that was accepted.
        var isLost = false

        /// The highest sequence; 0 without a certificate.
        var sequence: UInt64 { certificate == 0 ? 0 : ContainerCertificate.floor(of: certificate) }

        /// The sequence that new records are above. In a former container that was put back they stay clear of those of
        /// the container that had the certificate.
        var sequenceOfWrite: UInt64 {
            isLost && sequence > 0 ? sequence + ContainerCertificate.margin / 2 : sequence
        }

        func isFormer(_ sequence: UInt64) -> Bool {
            sequence <= self.sequence && !accepts.contains { $0.contains(sequence) }
        }
    }

    let place: RecordPlace
    private let floor = Mutex(Floor())
    /// The floor's sequence: most records are above it.
    private let sequence = Atomic<UInt64>(0)
    private let readAt = Atomic<Int>(-KnownCertificate.pause)
    private let isAccepted = Atomic<Bool>(false)
    /// The certificate's blob; nil without one.
    private let held = Mutex<(any HeldBlob)?>(nil)
    /// The container has records, so no writer may certify it unasked.
    let isInUse = Atomic<Bool>(false)

    /// The milliseconds after which the certificate is read again: another program may have written one.
    private static let pause = 1000

    init(_ place: RecordPlace) { self.place = place }

    /// Returns the floor that was read recently; nil to read again.
    func recent(accepting: Bool) -> Floor? { isRecent(accepting) ? floor.withLock { $0 } : nil }

    /// Returns `true` for a sequence of a former container; nil to read again.
    func isFormer(_ sequence: UInt64, accepting: Bool) -> Bool? {
        guard isRecent(accepting) else { return nil }
        if sequence > self.sequence.load(ordering: .relaxed) { return false }
        return floor.withLock { $0.isFormer(sequence) }
    }

    private func isRecent(_ accepting: Bool) -> Bool {
        ContainerAnchor.milliseconds - readAt.load(ordering: .relaxed) < Self.pause
            && (!accepting || isAccepted.load(ordering: .relaxed))
    }

    /// The floor that was read last, at any time.
    var last: Floor { floor.withLock { $0 } }

    /// Returns `true` if the certificate that was read last is still in its place.
    func isUnchanged(_ backend: any SealedBackend) -> Bool {
        if let held = held.withLock({ $0 }) { return held.isCurrent }
        do throws(BackendError) { return try backend.head(place.key) == nil } catch { return false }
    }

    func note(_ floor: Floor, _ blob: (any HeldBlob)?, accepted: Bool) {
        self.floor.withLock { $0 = floor }
        held.withLock { $0 = blob }
        sequence.store(floor.sequence, ordering: .relaxed)
        isAccepted.store(accepted, ordering: .relaxed)
        readAt.store(ContainerAnchor.milliseconds, ordering: .relaxed)
    }
}

extension RecordReader {
    /// Returns the sequences of the group's former containers.
    ///
    /// - Parameters:
    ///   - isFresh: Pass `true` to read the certificate again.
    ///   - accepting: Pass `false` to accept nothing, for tools that only examine.
    func floor(isFresh: Bool = false, accepting: Bool = true) -> KnownCertificate.Floor {
        if !isFresh, let known = certificate.recent(accepting: accepting) { return known }
        return readFloor(accepting)
    }

    /// Returns the same under a record's lock: from then on no program exchanges the certificate.
    ///
    /// - Parameter isNew: The record does not exist. Without a certificate another record's next sequence is one that a
    ///   certificate would accept: the one before it is there.
    func floorOfWrite(isNew: Bool) -> KnownCertificate.Floor {
        if let known = certificate.recent(accepting: true) {
            if known.certificate == 0 && !isNew || certificate.isUnchanged(backend) { return known }
        }
        return readFloor(true)
    }

    /// A certificate that is refused counts for nothing: the accepted one counts. One that cannot be read now says
    /// nothing about the container.
    private func readFloor(_ accepting: Bool) -> KnownCertificate.Floor {
        let place = certificate.place
        var floor = KnownCertificate.Floor()
        var held: (any HeldBlob)?
        var isKnown = true
        do throws(StoreError) {
            let blob = try accepting ? acceptedBlob(at: place) : judgedBlob(place)
            let value = try decodedSnapshot(of: ContainerCertificate.self, from: blob, at: place).value
            // Any holder of a key could let signed records of a former container in again.
            let mayAccept = authority == nil || blob.writer != nil
            floor = KnownCertificate.Floor(certificate: blob.header.sequence, accepts: mayAccept ? value.accepts : [])
            held = blob.held
            // It was on the disk before the container had its name, or before a writer went on.
            if accepting { acknowledge(blob.opened.header) }
        } catch {
            isKnown = error.code == .absent || error.isRejection
            if !isKnown { floor = certificate.last }
            // Another process of this user may have accepted it.
            watermarks.refresh()
        }
        let accepted = watermarks.mark(of: place.context.nameTag)?.sequence ?? 0
        if accepted > floor.certificate { floor = KnownCertificate.Floor(certificate: accepted, isLost: isKnown) }
        if isKnown { certificate.note(floor, held, accepted: accepting) }
        return floor
    }

    /// Returns `true` for the blob of a former container.
    package func isFormer(_ header: BlobHeader, accepting: Bool = false) -> Bool {
        guard header.kind == .record, header.nameTag != certificate.place.context.nameTag else { return false }
        return isFormer(header.sequence, accepting: accepting)
    }

    func isFormer(_ sequence: UInt64, accepting: Bool) -> Bool {
        certificate.isFormer(sequence, accepting: accepting) ?? floor(accepting: accepting).isFormer(sequence)
    }

    /// A certificate may come for the container of a record that was refused: no watch of the record reports it.
    func mayBeCertified(_ error: StoreError) -> Bool {
        error.code == .replayed && floor().isLost && floor().sequence > 0
    }

    /// Returns the accepted state of a record; nil also if it is of a former container.
    func presentMark(of name: NameTag) -> Watermark? {
        guard let mark = watermarks.mark(of: name) else { return nil }
        if name == certificate.place.context.nameTag { return mark }
        return isFormer(mark.sequence, accepting: false) ? nil : mark
    }

    /// Returns the verdict on a verified header by the container's certificate and the accepted states.
    package func verdict(on header: VerifiedHeader) -> Watermark.Verdict {
        isFormer(header.header) ? .replayed : watermarks.verdict(on: header)
    }

    /// The highest sequence that this user's programs have accepted.
    private var highestAcceptedSequence: UInt64 {
        watermarks.refresh()
        return keys.vault.acceptedRecords.lazy.compactMap { self.watermarks.mark(of: $0)?.sequence }.max() ?? 0
    }

    /// Returns the highest sequence of the stored records; refused records do not count.
    func highestStoredSequence() throws(StoreError) -> UInt64 {
        try heads().compactMap { self.listing($0)?.header?.sequence }.max() ?? 0
    }

    /// Returns the highest sequence of the records that are stored or were accepted.
    func highestSequence() throws(StoreError) -> UInt64 {
        max(try highestStoredSequence(), floor(isFresh: true).sequenceOfWrite, highestAcceptedSequence)
    }
}

extension RecordWriter {
    /// Gives an empty container a certificate, if this user's programs have accepted one in a former container. A
    /// failure changes nothing for this user's writes, which continue after the accepted one.
    func certifyIfNew(_ request: WriteRequest) {
        guard reader.floor().isLost, reader.floor().sequence > 0,
            !reader.certificate.isInUse.load(ordering: .relaxed), isEmpty
        else { return }
        var request = request
        request.beforeSealing = nil
        try? withoutWriters(request) { turn throws(StoreError) in
            if isEmpty { try certify(as: ContainerCertificate.next(after: reader.highestSequence()), turn) }
        }
    }

    /// The container has no records. Remembered for one that has some.
    private var isEmpty: Bool {
        let isEmpty = (try? reader.heads(limit: 1).isEmpty) ?? false
        if !isEmpty { reader.certificate.isInUse.store(true, ordering: .relaxed) }
        return isEmpty
    }

    /// Writes a certificate for the present container with its own records.
    ///
    /// - Parameter isFormer: The container was put back: its records have sequences of a former container. Otherwise
    ///   only its certificate was lost.
    /// - Returns: `false` if nothing was lost.
    func certifyAgain(isFormer: Bool) throws(StoreError) -> Bool {
        try withoutWriters(request()) { turn throws(StoreError) in
            let floor = reader.floor(isFresh: true)
            guard floor.isLost, floor.sequence > 0 else { return false }
            let name = reader.certificate.place.name.text
            if let authority = reader.authority, !authority.governs(name) {
                throw StoreError(
                    .notAuthorized, "write", name,
                    "The group has a roster, and it has no rule for \(name): readers would not believe it.",
                    advice: "Add a rule for \(name) to the roster: sealctl roster sign.")
            }
            if !isFormer, floor.certificate < floor.sequence {
                try certify(as: floor.certificate + 1, turn)
                return true
            }
            let highest = try reader.highestSequence()
            var accepts = isFormer ? reader.rangesOfFormerContainer(upTo: floor.sequence) : []
            let first = isFormer ? floor.sequenceOfWrite : floor.sequence
            let stored = try reader.highestStoredSequence()
            if stored > first { accepts.append(ContainerCertificate.Range(after: first, to: stored)) }
            try certify(as: ContainerCertificate.next(after: highest), accepting: accepts, turn)
            return true
        }
    }

    /// Seals a certificate without writing it.
    fileprivate func sealed(
        _ certificate: ContainerCertificate, sequence: UInt64
    ) throws(StoreError) -> [UInt8] {
        let place = reader.certificate.place
        let grant = try reader.requireRight(to: place, deleting: false)
        let payload = try encode(certificate, named: place.name.text)
        defer { payload.wipe() }
        let description = BlobDescription(
            record: place.context, flags: [], schemaVersion: payload.schemaVersion, sequence: sequence,
            sealedAt: reader.options.now().headerMilliseconds ?? 1, notAfter: 0, codec: payload.codec)
        let key = try reader.keys.activeKey(for: .afterFirstUnlock)
        return payload.withUnsafeBytes { grant.seal($0, as: description, key: key, at: place, in: reader.group).bytes }
    }

    private func certify(
        as sequence: UInt64, accepting ranges: [ContainerCertificate.Range] = [], _ locked: borrowing LockedRecord
    ) throws(StoreError) {
        let payload = try encode(ContainerCertificate(accepts: ranges), named: ContainerCertificate.recordName)
        defer { payload.wipe() }
        var request = request(durability: .durable)
        request.sequence = sequence
        _ = try locked.write(payload, request)
        _ = reader.floor(isFresh: true)
    }

    /// Runs `body` while no other program writes a record of the container.
    private func withoutWriters<Result>(
        _ request: WriteRequest, _ body: (borrowing LockedRecord) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let lock = try wholeLock("certify the container of", request)
        return try body(
            LockedRecord(reader.certificate.place, of: self, lock: lock, seen: SeenHeader(), looking: false))
    }
}

extension RecordReader {
    /// Returns the sequences of a container that was put back: those that its own certificate, which is refused by now,
    /// accepts, and those above it.
    fileprivate func rangesOfFormerContainer(upTo floor: UInt64) -> [ContainerCertificate.Range] {
        let place = certificate.place
        guard let held = try? held(at: place), let blob = try? opened(held.bytes, at: place) else {
            return [ContainerCertificate.Range(after: 0, to: floor)]
        }
        let value = try? decodedSnapshot(of: ContainerCertificate.self, from: blob, at: place).value
        let own = ContainerCertificate.floor(of: blob.header.sequence)
        return (value?.accepts ?? []) + [ContainerCertificate.Range(after: own, to: floor)]
    }
}

/// Certificates, for tools.
extension SealedStore {
    /// Seals the certificate of a container that will replace the present one: its file's path below the container, and
    /// the file's contents. Nothing is written.
    ///
    /// - Returns: nil for a group without a record, stored or accepted.
    package func certificateForSuccessor() throws(StoreError) -> (path: String, blob: [UInt8])? {
        try onPresentContainer { store throws(StoreError) in
            let highest = try store.reader.highestSequence()
            if highest == 0 { return nil }
            let place = store.reader.certificate.place
            let sequence = ContainerCertificate.next(after: highest)
            return (place.path, try store.writer.sealed(ContainerCertificate(accepts: []), sequence: sequence))
        }
    }

    /// Returns the beginning of a container that will replace the present one: the same backend, and its certificate.
    package func makeSuccessor() throws(StoreError) -> ContainerSuccessor {
        try onPresentContainer { store throws(StoreError) in
            let certificate = try store.certificateForSuccessor()
            return ContainerSuccessor(
                group: group, provider: store.reader.space == nil ? nil : store.options.backend,
                certificate: certificate?.blob)
        }
    }

    /// Accepts the certificate of the group's present container, as every read does.
    package func acceptCertificate() throws(StoreError) {
        try onPresentContainer { store throws(StoreError) in _ = store.reader.floor(isFresh: true) }
    }

    /// Certifies the group's present container with its own records, on purpose.
    ///
    /// - Parameter isFormer: The container was put back. Otherwise only its certificate was lost.
    /// - Returns: `false` if nothing was lost.
    @discardableResult
    package func certifyAgain(isFormer: Bool) throws(StoreError) -> Bool {
        try onPresentContainer { store throws(StoreError) in try store.writer.certifyAgain(isFormer: isFormer) }
    }
}
