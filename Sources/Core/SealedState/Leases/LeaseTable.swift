internal import AppGroups
internal import Glibc
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// Takes, renews and returns leases: each step is one change of the lease's record under that record's lock.
///
/// | this process | another one |
/// | --- | --- |
/// | takes lease 7 for 10 s | |
/// | is stopped | waits, sees the time run out, takes lease 8 |
/// | goes on; its write names fence 7: `leaseLost` | its write names fence 8: written |
struct LeaseTable {
    let writer: RecordWriter

    private var reader: RecordReader { writer.reader }

    static func place(_ name: String, group: String) throws(StoreError) -> RecordPlace {
        RecordPlace(
            try RecordName(reserved: "\(RecordName.reservedSegment)/leases/\(try RecordName(name).text)"), group: group)
    }

    /// Tries once to take the lease.
    ///
    /// - Parameters:
    ///   - waitedSince: The fence of the holder that the caller waits for; work that was completed under it or a later
    ///     one counts.
    ///   - timeout: The time limit for the lock of the lease's record.
    func attempt(
        _ name: String, for duration: Duration, waitedSince: UInt64?, timeout: Duration? = nil,
        isCancelled: (() -> Bool)? = nil
    ) throws(StoreError) -> LeaseAttempt {
        let place = try Self.place(name, group: reader.group.identifier)
        let request = writer.request(timeout: timeout, isCancelled: isCancelled)
        return try writer.locked(place, request) { locked throws(StoreError) in
            let record = try usable(place, locked.seen)
            if let record {
                if let waitedSince, record.lastCompleted >= waitedSince { return .completed }
                if try isHeld(record, place) {
                    return .busy(number: record.number, remaining: record.remaining(at: .now))
                }
            }
            return try take(record, name, place, duration, locked)
        }
    }

    private func take(
        _ previous: LeaseRecord?, _ name: String, _ place: RecordPlace, _ duration: Duration,
        _ locked: borrowing LockedRecord
    ) throws(StoreError) -> LeaseAttempt {
        let lease = try freshLease(after: previous, name, place)
        let now = LeaseMoment.now
        let record = LeaseRecord(
            number: lease.fence.number, state: .held, lastCompleted: previous?.lastCompleted ?? 0,
            endsAt: now.adding(duration),
            boot: now.boot, processID: getpid())
        try write(record, place, locked)
        return .taken(lease)
    }

    /// Returns a lease with a number beyond every known number of this record, so that a fence never repeats, even if
    /// the record's file was removed or the container was replaced, and locks its byte. If a member's forgery or lost marks let an old number repeat,
    /// a number whose byte is still held is skipped.
    private func freshLease(
        after previous: LeaseRecord?, _ name: String, _ place: RecordPlace
    ) throws(StoreError) -> HeldLease {
        let highest = max(
            previous?.number ?? 0, reader.watermarks.mark(of: place.context.nameTag)?.sequence ?? 0,
            reader.floorOfWrite(isNew: previous == nil).sequenceOfWrite)
        guard highest < LeaseRecord.maximumNumber - Self.maximumPassedBy else {
            throw StoreError(.sequenceJump, "take the lease", name, "Its fence has reached the maximum.")
        }
        for number in highest + 1...highest + Self.maximumPassedBy {
            do throws(StoreError) {
                let fence = LeaseFence(lease: name, number: number, container: reader.anchor.number)
                return HeldLease(fence: fence, place: place, presence: try presence(number, place))
            } catch {
                guard error.code == .lockTimeout else { throw error }
            }
        }
        throw StoreError(
            .leaseTimeout, "take the lease", name, "Other programs hold the bytes of all of its next fences.")
    }

    private static let maximumPassedBy: UInt64 = 64

    /// Returns a lease; the result is `true` if this program still held it.
    func end(_ lease: HeldLease, completed: Bool) throws(StoreError) -> Bool {
        let (place, fence) = (lease.place, lease.fence)
        guard fence.container == reader.anchor.number else {
            guard reader.anchor.isInPlace else { throw reader.moved("end the lease", fence.lease) }
            return false
        }
        return try writer.locked(place, writer.request()) { locked throws(StoreError) in
            guard var record = try current(place, locked.seen), record.number == fence.number, record.state == .held
            else {
                return false
            }
            let wasRunning = record.isRunning(at: .now)
            record.state = completed ? .completed : .failed
            if completed { record.lastCompleted = fence.number }
            try write(record, place, locked)
            return wasRunning
        }
    }

    /// Sets the end of a lease that is still held.
    ///
    /// - Throws: `StoreError` `.leaseLost`.
    func renew(_ fence: LeaseFence, for duration: Duration) throws(StoreError) {
        let place = try Self.place(fence.lease, group: reader.group.identifier)
        try writer.locked(place, writer.request()) { locked throws(StoreError) in
            var record = try require(fence, place, locked.seen)
            record.endsAt = LeaseMoment.now.adding(duration)
            try write(record, place, locked)
        }
    }

    /// Throws for a fence that has expired, or whose lease another program has taken. Takes no lock: a write under the
    /// record's own lock after this check precedes any write of the next holder there.
    ///
    /// - Throws: `StoreError` `.leaseLost`, also if the lease's record is refused: then no program can prove to hold
    ///   it.
    @discardableResult
    func require(
        _ fence: LeaseFence, _ place: RecordPlace, _ seen: SeenHeader? = nil
    ) throws(StoreError) -> LeaseRecord {
        guard fence.container == reader.anchor.number else {
            throw lost(fence, "It is of a container that was replaced.")
        }
        let found: LeaseRecord?
        do throws(StoreError) { found = try current(place, seen) } catch {
            guard error.isRejection else { throw error }
            throw lost(fence, "The lease's record is refused (\(error.code.rawValue)).", error)
        }
        guard let record = found, record.number == fence.number, record.state == .held else {
            throw lost(fence, "Another holder has taken it, or it was released.")
        }
        guard record.isRunning(at: .now) else { throw lost(fence, "It has expired.") }
        return record
    }

    private func lost(_ fence: LeaseFence, _ reason: String, _ cause: StoreError? = nil) -> StoreError {
        StoreError(
            .leaseLost, "use the lease", fence.lease, "Fence \(fence.number) is not valid any more. \(reason)",
            cause: cause
        )
    }

    /// Returns `true` if the time is not up, and the holder lives, or cannot be known to be dead.
    private func isHeld(_ record: LeaseRecord, _ place: RecordPlace) throws(StoreError) -> Bool {
        guard record.isRunning(at: .now) else { return false }
        do throws(StoreError) {
            _ = try presence(record.number, place)
            return false
        } catch {
            guard error.code == .lockTimeout else { throw error }
            return true
        }
    }

    /// Locks the byte of a holder: another one for each fence, so that a stopped holder blocks no other program. Tried
    /// once without waiting, so the record's lock may be held meanwhile.
    private func presence(_ number: UInt64, _ place: RecordPlace) throws(StoreError) -> HeldLock {
        let slot = Self.hash(of: place) &+ number &* 0x9E37_79B9_7F4A_7C15
        return try StoreError.onFiles("hold the lease", place.name.text) { () throws(FileError) in
            try reader.locks.presence(LockRange(slot: slot))
        }
    }

    private static func hash(of place: RecordPlace) -> UInt64 {
        place.context.nameTag.bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    }

    /// Returns the record; a record that readers refuse names no holder: the next program to take the lease gets a
    /// fence beyond all accepted ones, and a holder that still lives finds its own fence refused.
    private func usable(_ place: RecordPlace, _ seen: SeenHeader) throws(StoreError) -> LeaseRecord? {
        do throws(StoreError) { return try current(place, seen) } catch {
            guard error.isRejection else { throw error }
            return nil
        }
    }

    /// Returns the lease's record; nil if there is no record. Freshness is not checked: leases do not use the wall
    /// clock.
    private func current(_ place: RecordPlace, _ seen: SeenHeader?) throws(StoreError) -> LeaseRecord? {
        do throws(StoreError) {
            let snapshot = try reader.decodedSnapshot(
                of: LeaseRecord.self, from: reader.acceptedBlob(at: place, seen: seen), at: place)
            try snapshot.value.requirePlausible(sequence: snapshot.provenance.sequence)
            return snapshot.value
        } catch {
            reader.notice(error, at: place)
            guard error.code == .absent else { throw error }
            return nil
        }
    }

    private func write(
        _ record: LeaseRecord, _ place: RecordPlace, _ locked: borrowing LockedRecord
    ) throws(StoreError) {
        let payload = try writer.encode(record, named: place.name.text)
        defer { payload.wipe() }
        _ = try locked.write(payload, writer.request())
    }
}

/// The holder and end of a lease, as a sealed record of the store's own.
struct LeaseRecord: SealedRecord, Equatable {
    static let recordName = "lease"
    static let schemaVersion = 1

    enum State: String, Codable, Sendable {
        case held, completed, failed
    }

    /// The fence of the last holder; it only increases.
    var number: UInt64
    var state: State
    /// The fence of the last holder that finished its work; 0 for none.
    var lastCompleted: UInt64
    /// The end of the lease: milliseconds of `CLOCK_BOOTTIME`, which cannot be set and runs while the machine sleeps.
    var endsAt: UInt64
    /// The boot that `endsAt` counts in; a lease of an earlier one has ended.
    var boot: String
    /// For messages only: the number may belong to another process by now.
    var processID: Int32

    static let maximumNumber: UInt64 = 1 << 62

    /// Throws for values that no program of this library writes: a key holder could otherwise use up the fences with
    /// one record. A fence starts as the sequence of the write that took the lease, and exceeds it by little.
    func requirePlausible(sequence: UInt64) throws(StoreError) {
        let (limit, overflow) = sequence.addingReportingOverflow(1 << 20)
        guard overflow || number <= limit, number < Self.maximumNumber, lastCompleted <= number else {
            throw StoreError(.invalid, "read the lease", "its record", "Its fences do not match its sequence.")
        }
    }

    /// Returns `true` if its time is not up; its holder may still be dead.
    func isRunning(at moment: LeaseMoment) -> Bool {
        state == .held && boot == moment.boot && moment.milliseconds < endsAt
    }

    /// Returns the remaining time.
    func remaining(at moment: LeaseMoment) -> Duration {
        isRunning(at: moment) ? .milliseconds(endsAt - moment.milliseconds) : .zero
    }
}

/// A point in time that only a restart resets.
struct LeaseMoment {
    let boot: String
    let milliseconds: UInt64

    static var now: LeaseMoment { LeaseMoment(boot: BootID.current.text, milliseconds: BootClock.milliseconds()) }

    func adding(_ duration: Duration) -> UInt64 {
        // Thirty thousand years are long enough.
        milliseconds &+ UInt64(min(max(1, duration.seconds * 1000), 1e15).rounded(.up))
    }
}

/// A lease that this process took. Its presence, a byte of the container's lock file, ends with the process: other
/// programs then take over immediately instead of waiting for the end of its time.
final class HeldLease: Sendable {
    let fence: LeaseFence
    let place: RecordPlace
    private let presence: HeldLock

    init(fence: LeaseFence, place: RecordPlace, presence: consuming HeldLock) {
        self.fence = fence
        self.place = place
        self.presence = presence
    }
}

/// The result of one attempt to take a lease.
enum LeaseAttempt: Sendable {
    case taken(HeldLease)
    /// Another program holds it, under that fence, for at most that long.
    case busy(number: UInt64, remaining: Duration)
    /// The work was completed since the caller began to wait.
    case completed
}
