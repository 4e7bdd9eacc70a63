internal import SharedFiles

/// What the calls for users and the library's own records have in common: a place, a request, the lock.
extension SealedStore {
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
        let sequence = try lockedPlainly(place, request, payload.protection) { writer throws(StoreError) in
            try writer.write(payload, request)
        }
        if let sequence { return sequence }
        lookAtVault()
        request.lowersClass =
            payload.mayLowerClass && payload.protection == .afterFirstUnlock && isProtected(place)
        if request.lowersClass {
            try requirePerson(place)
            let sequence = try locked(place, request) { writer throws(StoreError) in
                try writer.write(payload, request)
            }
            guard let sequence else { throw .downgraded(writing: place.name.text) }
            // After the blob: a write that is refused or interrupted takes no protection away.
            try lowerClass(place)
            return sequence
        }
        return try raisingToStanding(place, to: payload.protection ?? protection(at: place)) {
            place throws(StoreError) in
            try locked(place, request) { writer throws(StoreError) in try writer.write(payload, request) }
        }
    }

    /// Writes as `raising` does. Where a blob of *when unlocked* stands under a name that is not listed, `body` returns nil
    /// and runs once more with the name listed: a list of names that was restored from before the name's first write would
    /// let the class fall.
    private func raisingToStanding(
        _ place: RecordPlace, to protection: ProtectionClass,
        _ body: (RecordPlace) throws(StoreError) -> UInt64?
    ) throws(StoreError) -> UInt64 {
        if let sequence = try raising(place, to: protection, body) { return sequence }
        if let sequence = try raising(place, to: .whenUnlocked, body) { return sequence }
        throw StoreError(
            .conflict, "write", place.name.text, "Another program took its name off the vault's list meanwhile.",
            advice: "Try again.")
    }

    /// Sees to the key of a class, which lists a name that is raised, and writes. Where the write fails, a name that it has
    /// raised is lowered again: else the value that stands could not be read any more.
    private func raising<Result>(
        _ place: RecordPlace, to protection: ProtectionClass, _ body: (RecordPlace) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var place = place
        place.isBeingRaised = protection == .whenUnlocked && !isProtected(place)
        do throws(StoreError) {
            try prepareKey(for: protection, named: place.name.text)
            return try body(place)
        } catch {
            if place.isBeingRaised, isProtected(place), case .value(let header)? = try? standing(at: place),
                self.protection(of: header) == .afterFirstUnlock
            {
                try? lowerClass(place)
            }
            throw error
        }
    }

    func update<Record: SealedRecord>(
        _ type: Record.Type, at place: RecordPlace, startingWith initial: Record?, _ request: WriteRequest,
        _ change: (inout Record) throws -> Void
    ) throws(StoreError) -> UInt64 {
        lookAtVault()
        let protection = Record.protection.stated ?? protection(at: place)
        return try raisingToStanding(place, to: protection) { place throws(StoreError) in
            try locked(place, request) { writer throws(StoreError) -> UInt64? in
                // Before the change: it runs once.
                if try writer.isUnlisted() { return nil }
                try writer.require(request.condition)
                var value = try current(type, at: place, startingWith: initial)
                do { try change(&value) } catch { throw Self.declined(error, place) }
                let payload = try encode(value, named: place.name.text)
                defer { payload.wipe() }
                return try writer.write(payload, request)
            }
        }
    }

    func delete(at place: RecordPlace, _ request: WriteRequest) throws(StoreError) -> UInt64 {
        var request = request
        request.listsName = true
        let sequence = try lockedPlainly(place, request, .afterFirstUnlock) { writer throws(StoreError) in
            try writer.delete(request)
        }
        if let sequence { return sequence }
        lookAtVault()
        return try raisingToStanding(place, to: deletionProtection(at: place)) { place throws(StoreError) in
            try locked(place, request) { writer throws(StoreError) in try writer.delete(request) }
        }
    }

    func purge(at place: RecordPlace, _ request: WriteRequest) throws(StoreError) {
        lookAtVault()
        try prepareKey(for: deletionProtection(at: place), named: place.name.text)
        return try locked(place, request) { writer throws(StoreError) in try writer.purge(request) }
    }

    /// Which names are *when unlocked* may have changed since the last look. A look that fails is told by the write.
    private func lookAtVault() { _ = try? vault.currentKeyring() }

    /// Writes a blob of *after first unlock* with one look at the vault, once the lock is taken. The vault's own lock comes
    /// before a record's, so a write that may change the list of names has to look before it locks.
    ///
    /// - Parameter protection: The class that the write states; nil for the vault's default.
    /// - Returns: Nil where the name is *when unlocked* or gets that class by now; nothing is written then.
    private func lockedPlainly(
        _ place: RecordPlace, _ request: WriteRequest, _ protection: ProtectionClass?,
        _ body: (borrowing RecordWriter) throws(StoreError) -> UInt64?
    ) throws(StoreError) -> UInt64? {
        func isPlain() -> Bool {
            (protection ?? vault.defaultProtection) == .afterFirstUnlock && !isProtected(place)
        }
        guard isPlain() else { return nil }
        return try locked(place, request, looking: true) { writer throws(StoreError) in
            isPlain() ? try body(writer) : nil
        }
    }

    /// Takes a record's lock for `body`.
    ///
    /// - Parameter isLooking: Whether the vault is looked at before `body`, which then writes without another look.
    func locked<Result>(
        _ place: RecordPlace, _ request: WriteRequest, looking isLooking: Bool = false,
        _ body: (borrowing RecordWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let lock: HeldLock
        do throws(FileError) {
            lock = try backend.lock(place.address, timeout: request.timeout, isCancelled: request.isCancelled)
        } catch {
            throw StoreError(writing: error, place.name.text)
        }
        // What other processes accepted since: a write that stayed below it would be refused by them.
        watermarks.refresh()
        let result = try body(RecordWriter(store: self, place: place, lock: lock, looking: isLooking))
        // The lock is free again: the next deletion's space is nothing that others wait for.
        backend.keepReserve()
        return result
    }

    private func current<Record: SealedRecord>(
        _ type: Record.Type, at place: RecordPlace, startingWith initial: Record?
    ) throws(StoreError) -> Record {
        let name = place.name.text
        do throws(StoreError) {
            let snapshot = try decodedSnapshot(of: type, from: acceptedBlob(at: place), at: place)
            try Freshness(now: options.now(), skew: options.clockSkew)
                .check(sealedAt: snapshot.provenance.sealedAt, expiresAt: nil, maximumAge: nil, named: name)
            try validate(snapshot.value, named: name)
            return snapshot.value
        } catch {
            notice(error, at: place)
            guard error.code == .absent, let initial else { throw error }
            return initial
        }
    }

    private static func declined(_ error: any Error, _ place: RecordPlace) -> StoreError {
        if let error = error as? StoreError { return error }
        // The error's own words stay with its thrower: they may hold contents.
        return StoreError(
            .declined, "update", place.name.text, "The change was given up by the program itself.",
            advice: "See the cause; nothing was written.", cause: error)
    }
}
