internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import PropertyLists
internal import SealedBackends
internal import Sealing
internal import SharedFiles

/// Writes the records of one container, each under its own lock (docs/locking.md).
///
/// The vault is read and changed before a record's lock is taken: the vault's own lock comes first.
package struct RecordWriter: Sendable {
    /// The reader that determines which blob a write replaces; it holds the backend, keys, watermarks and options.
    let reader: RecordReader

    private var keys: RecordKeys { reader.keys }

    func write<Record: SealedRecord>(
        _ value: Record, at place: RecordPlace, _ request: WriteRequest
    ) throws(StoreError) -> UInt64 {
        let payload = try encode(value, named: place.name.text)
        defer { payload.wipe() }
        return try write(payload, at: place, request)
    }

    func write(
        _ payload: RecordPayload, at place: RecordPlace, _ request: WriteRequest
    ) throws(StoreError) -> UInt64 {
        var request = request
        request.listsName = true
        let seen = SeenHeader()
        let sequence = try lockedPlainly(place, request, payload.protection, seen) { record throws(StoreError) in
            try record.write(payload, request)
        }
        if let sequence { return sequence }
        refreshKeyring()
        request.lowersClass =
            payload.mayLowerClass && payload.protection == .afterFirstUnlock && keys.isProtected(place)
        if request.lowersClass {
            try keys.requirePerson(place)
            let sequence = try locked(place, request, seen) { record throws(StoreError) in
                try record.write(payload, request)
            }
            guard let sequence else { throw .downgraded(writing: place.name.text) }
            // After the blob: a write that is refused or interrupted leaves the protection in place.
            try keys.lowerClass(place)
            return sequence
        }
        return try raisingToExisting(place, to: payload.protection ?? protection(at: place, seen)) {
            place throws(StoreError) in
            try locked(place, request, seen) { record throws(StoreError) in try record.write(payload, request) }
        }
    }

    func update<Record: SealedRecord, Result>(
        _ type: Record.Type, at place: RecordPlace, startingWith initial: Record?, _ request: WriteRequest,
        _ change: (inout Record) throws -> Result
    ) throws(StoreError) -> (result: Result, sequence: UInt64) {
        refreshKeyring()
        let seen = SeenHeader()
        let protection = Record.protection.stated ?? protection(at: place, seen)
        return try raisingToExisting(place, to: protection) { place throws(StoreError) in
            try locked(place, request, seen) { record throws(StoreError) -> (result: Result, sequence: UInt64)? in
                // Before the change: `change` runs once.
                if try record.isUnlisted() { return nil }
                try record.require(request.condition)
                var value = try current(type, at: place, startingWith: initial) { () throws(StoreError) in
                    let blob = try reader.acceptedBlob(at: place, seen: seen)
                    seen.note(blob.opened.header, of: blob.sealed)
                    return blob
                }
                let result: Result
                do { result = try change(&value) } catch { throw Self.declined(error, place.name.text) }
                let payload = try encode(value, named: place.name.text)
                defer { payload.wipe() }
                return try record.write(payload, request).map { (result, $0) }
            }
        }
    }

    func delete(at place: RecordPlace, _ request: WriteRequest) throws(StoreError) -> UInt64 {
        var request = request
        request.listsName = true
        let seen = SeenHeader()
        let sequence = try lockedPlainly(place, request, .afterFirstUnlock, seen) { record throws(StoreError) in
            try record.delete(request)
        }
        if let sequence { return sequence }
        refreshKeyring()
        return try raisingToExisting(place, to: keys.deletionProtection(at: place)) { place throws(StoreError) in
            try locked(place, request, seen) { record throws(StoreError) in try record.delete(request) }
        }
    }

    func purge(at place: RecordPlace, _ request: WriteRequest) throws(StoreError) {
        refreshKeyring()
        try keys.prepareKey(for: keys.deletionProtection(at: place), named: place.name.text)
        return try locked(place, request) { record throws(StoreError) in try record.purge(request) }
    }

    /// Throws for a fence that has expired, or whose lease another program has taken since.
    ///
    /// - Returns: The lease's record as the condition of a write.
    func requireLease(_ fence: LeaseFence) throws(StoreError) -> BackendWrite {
        let place = try LeaseTable.place(fence.lease, group: reader.group.identifier)
        let seen = SeenHeader()
        try LeaseTable(writer: self).require(fence, place, seen)
        return BackendWrite(place.key, .nothing, if: seen.condition ?? .any)
    }
}

// MARK: The lock and the class

extension RecordWriter {
    /// Takes a record's lock for `body`.
    ///
    /// - Parameters:
    /// - seen: The header that was verified before the lock; under the lock the bytes are read again and compared.
    /// - isLooking: Pass `true` to read the vault before `body`, which then writes without reading it again.
    func locked<Result>(
        _ place: RecordPlace, _ request: WriteRequest, _ seen: SeenHeader = SeenHeader(),
        looking isLooking: Bool = false, _ body: (borrowing LockedRecord) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let result = try underLock(place, request, seen, looking: isLooking, body)
        // The lock is released: other programs need not wait for the next deletion's space.
        reader.files?.keepReserve()
        reader.space?.keepReserve()
        return result
    }

    private func underLock<Result>(
        _ place: RecordPlace, _ request: WriteRequest, _ seen: SeenHeader, looking isLooking: Bool,
        _ body: (borrowing LockedRecord) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        // A holder in a container that was moved away must not keep this writer from the present one.
        guard reader.anchor.isInPlace else { throw reader.moved("write", place.name.text) }
        if place.context.nameTag != reader.certificate.place.context.nameTag { certifyIfNew(request) }
        let lock: HeldLock
        do throws(FileError) {
            lock = try reader.locks.lock(place.lock, timeout: request.timeout, isCancelled: request.isCancelled)
        } catch {
            throw StoreError(writing: error, place.name.text)
        }
        // Moved away while this program waited: then the lock excludes no other program.
        guard reader.isPresent else { throw reader.moved("write", place.name.text) }
        // States that other processes accepted since: they would refuse a write below those.
        reader.watermarks.refresh()
        let record = LockedRecord(place, of: self, lock: lock, seen: seen, looking: isLooking)
        guard reader.isCompared else { return try body(record) }
        return try repeating(place.name.text, request) { () throws(StoreError) in
            seen.begin()
            return try body(record)
        }
    }

    /// Makes a change again while another machine has written the record in between, until the time limit.
    func repeating<Result>(
        _ name: String, _ request: WriteRequest, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let end = ContinuousClock.now + request.timeout
        var delay = Duration.milliseconds(1)
        while true {
            do throws(StoreError) { return try body() } catch {
                guard (error.cause as? BackendError)?.code == .conflict else { throw error }
                if request.isCancelled?() == true {
                    throw StoreError(.cancelled, "write", name, "The task was cancelled.")
                }
                guard ContinuousClock.now + delay < end else {
                    throw StoreError(
                        .lockTimeout, "write", name,
                        "Other machines have written it between every read and write of this program.", cause: error)
                }
                pause(delay)
                delay = min(delay * 2, .milliseconds(100))
            }
        }
    }

    /// Writes a blob of *after first unlock* and reads the vault once, after taking the lock. The vault's own lock
    /// comes before a record's, so a write that may change the list of names must read the vault before it locks.
    ///
    /// - Parameter protection: The class that the write states; nil for the vault's default.
    /// - Returns: `nil` if the name is *when unlocked* or gets that class by now; nothing is written then.
    private func lockedPlainly(
        _ place: RecordPlace, _ request: WriteRequest, _ protection: ProtectionClass?, _ seen: SeenHeader,
        _ body: (borrowing LockedRecord) throws(StoreError) -> UInt64?
    ) throws(StoreError) -> UInt64? {
        func isPlain() -> Bool {
            (protection ?? keys.vault.defaultProtection) == .afterFirstUnlock && !keys.isProtected(place)
        }
        guard isPlain() else { return nil }
        return try locked(place, request, seen, looking: true) { record throws(StoreError) in
            isPlain() ? try body(record) : nil
        }
    }

    /// Reads the vault again: the list of *when unlocked* names may have changed. The write reports a failure.
    func refreshKeyring() { _ = try? keys.vault.currentKeyring() }

    /// Returns the class of a value that states none, before the lock is taken, so that the key is available by then.
    /// The write reports read errors and detects changes in between.
    func protection(at place: RecordPlace, _ seen: SeenHeader) -> ProtectionClass {
        if keys.isProtected(place) { return .whenUnlocked }
        // If a service opens the vault, a name that is not listed is *after first unlock* for any file content.
        guard keys.vault.defaultProtection == .whenUnlocked else { return .afterFirstUnlock }
        return (try? reader.existing(at: place, seen: seen)).map { keys.protection(of: $0, at: place) }
            ?? .afterFirstUnlock
    }

    /// Writes as `raising` does. If a blob of *when unlocked* is stored under a name that is not listed, `body` returns
    /// nil and runs once more with the name listed: a list of names that was restored from before the name's first
    /// write would otherwise lower the class.
    private func raisingToExisting<Result>(
        _ place: RecordPlace, to protection: ProtectionClass,
        _ body: (RecordPlace) throws(StoreError) -> Result?
    ) throws(StoreError) -> Result {
        if let result = try raising(place, to: protection, body) { return result }
        if let result = try raising(place, to: .whenUnlocked, body) { return result }
        throw StoreError(
            .conflict, "write", place.name.text,
            "Another program removed its name from the vault's list in the meantime.",
            advice: "Try again.")
    }

    /// Prepares the key of a class, which lists a name that is raised, and writes. If the write fails, a name that it
    /// has raised is lowered again: otherwise the stored value would become unreadable.
    func raising<Result>(
        _ place: RecordPlace, to protection: ProtectionClass,
        _ body: (RecordPlace) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var place = place
        place.isBeingRaised = protection == .whenUnlocked && !keys.isProtected(place)
        do throws(StoreError) {
            try keys.prepareKey(for: protection, named: place.name.text)
            return try body(place)
        } catch {
            lowerAgain(place)
            throw error
        }
    }

    /// Ends the protection of a name that was listed for a write that was not made.
    func lowerAgain(_ place: RecordPlace) {
        guard place.isBeingRaised, keys.isProtected(place),
            case .value(let header)? = try? reader.existing(at: place),
            keys.protection(of: header) == .afterFirstUnlock
        else { return }
        try? keys.lowerClass(place)
    }

    /// Returns the value to change, expired or not.
    ///
    /// - Parameter blob: Returns the accepted blob.
    func current<Record: SealedRecord>(
        _ type: Record.Type, at place: RecordPlace, startingWith initial: Record?,
        _ blob: () throws(StoreError) -> AcceptedBlob
    ) throws(StoreError) -> Record {
        let name = place.name.text
        do throws(StoreError) {
            let blob = try blob()
            let snapshot = try reader.decodedSnapshot(of: type, from: blob, at: place)
            try Freshness(now: reader.options.now(), skew: reader.options.clockSkew)
                .check(sealedAt: snapshot.provenance.sealedAt, expiresAt: nil, maximumAge: nil, named: name)
            try reader.validate(snapshot.value, named: name)
            return snapshot.value
        } catch {
            reader.notice(error, at: place)
            guard error.code == .absent, let initial else { throw error }
            return initial
        }
    }

    static func declined(_ error: any Error, _ name: String) -> StoreError {
        if let error = error as? StoreError { return error }
        // The error's own text stays in its cause: it may contain contents.
        return StoreError(
            .declined, "update", name, "The program's own closure threw an error.",
            advice: "See the underlying error; nothing was written.", cause: error)
    }
}

// MARK: Payloads

extension RecordWriter {
    /// Returns the encoded value, valid and ready to be sealed.
    ///
    /// A value whose structure readers with these options would refuse is not encoded.
    package func encode<Record: SealedRecord>(
        _ value: Record, named name: String
    ) throws(StoreError) -> RecordPayload {
        try reader.validate(value, named: name, advice: "Correct the value; the old value remains.")
        guard let schemaVersion = SchemaVersion.number(Record.schemaVersion) else {
            throw StoreError(
                .unencodable, "write", name, "Its schema version \(Record.schemaVersion) is out of range.",
                advice: SchemaVersion.advice)
        }
        guard let notAfter = value.expiresAt.map({ $0.headerMilliseconds }) ?? 0 else {
            throw StoreError(.unencodable, "write", name, "Its expiry is outside the range of a header.")
        }
        let codec = Record.format.codec
        return RecordPayload(
            try payload(of: value, as: codec, named: name), codec: codec, schemaVersion: schemaVersion,
            notAfter: notAfter, protection: Record.protection.stated)
    }

    private func payload(
        of value: some SealedRecord, as codec: PayloadCodec, named name: String
    ) throws(StoreError) -> Data {
        do { return try PayloadCoding.encode(value, as: codec, limits: reader.options.structureLimits) } catch {
            guard let fault = error as? StructureFault else {
                throw StoreError(.unencodable, "write", name, CodingFault.describe(error))
            }
            throw StoreError(writing: fault, named: name)
        }
    }
}

extension RecordWriter {
    /// Throws for a payload that no reader would give to a decoder.
    package func requireSafeStructure(of payload: RecordPayload, named name: String) throws(StoreError) {
        guard let fault = payload.fault(against: reader.options.structureLimits) else { return }
        throw StoreError(writing: fault, named: name)
    }

    /// Creates a request with the store's own durability and time limit for those that the call does not state.
    func request(
        onlyIf condition: WriteCondition = .always, holding fence: LeaseFence? = nil, durability: Durability? = nil,
        timeout: Duration? = nil, isCancelled: (() -> Bool)? = nil
    ) -> WriteRequest {
        WriteRequest(
            condition: condition, fence: fence, durability: durability ?? reader.options.durability,
            timeout: timeout ?? reader.options.lockTimeout, isCancelled: isCancelled)
    }
}

/// The parameters of one write, collected from the public calls.
struct WriteRequest {
    var condition: WriteCondition = .always
    /// The lease that the writer relies on.
    var fence: LeaseFence?
    var durability: Durability
    /// The time limit for the record's lock.
    var timeout: Duration
    var isCancelled: (() -> Bool)?
    /// The write only removes settings from a suite, so it counts as a deletion.
    var isReduction = false
    /// A name that is *when unlocked* gets a blob of the lower class: a person has requested it.
    var lowersClass = false
    /// The sequence of the new blob; one more than the highest known one unless stated.
    var sequence: UInt64?
    /// The new sequence is at least this one, where none is stated.
    var lowestSequence: UInt64 = 0
    /// The time of sealing in milliseconds since 1970; the present one unless stated.
    var sealedAt: UInt64?
    /// Called under the record's lock with the id of the new blob's key, before the blob is sealed. If it throws, nothing
    /// is written. It may be called again for the same write.
    var beforeSealing: ((KeyID) throws(StoreError) -> Void)?
    /// Nothing is written if a blob of *when unlocked* is stored, or would be written, under a name that is not listed:
    /// the caller lists the name and writes again.
    var listsName = false
}
