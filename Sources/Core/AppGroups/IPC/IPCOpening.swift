internal import CLinux
internal import Glibc
internal import SharedFiles

/// Finds, creates and removes the kernel's object of a name.
struct IPCOpening<Object: KernelObject>: Sendable {
    /// The object to create if none exists.
    struct Specification: Sendable {
        var kind: IPCKind
        var capacity: UInt64 = 0
        /// A semaphore's initial value.
        var value = 0
        /// `true` if any existing capacity is acceptable.
        var takesAnyCapacity = false
    }

    /// A complete object of the record that is open only to the container's users.
    struct Found: Sendable {
        let object: Object
        let record: IPCRecord
    }

    let place: IPCPlace
    let specification: Specification

    /// - Throws: `AppGroupError` with `ipcMissing`, `ipcMismatch`, `ipcDamaged`, `ipcElsewhere`, `ipcUntrusted`,
    ///   `ipcLimit`, `ipcNotShareable`, `timeout`, `file`.
    func open(creating: Bool) throws(AppGroupError) -> Found {
        if let found = try usableRecord(), let object = try trustedObject(of: found.record) {
            return Found(object: object, record: found.record)
        }
        guard creating else { throw IPCPlace.missing(place.name, place.suffix) }
        try requireShareable()
        return try place.locked("make") { () throws(AppGroupError) in try make() }
    }

    // MARK: Finding

    /// Returns the record of an object in this process's namespace; nil if it is missing or from before the last boot.
    private func usableRecord() throws(AppGroupError) -> ExistingRecord? {
        let here = KernelPlace.current()
        guard let existing = try place.record(), existing.record.place.boot == here.boot else { return nil }
        guard existing.record.place.namespace == here.namespace else { throw elsewhere }
        let record = existing.record
        guard record.kind == specification.kind,
            specification.takesAnyCapacity || record.capacity == specification.capacity
        else {
            let found = record.kind == specification.kind ? "\(record.capacity) bytes" : "another layout"
            throw .ipc(
                .ipcMismatch, "open", place.name.description,
                "it has \(found) and \(specification.capacity) bytes were requested",
                "Request the same size in all programs of the group, or remove it first.")
        }
        return existing
    }

    private var elsewhere: AppGroupError {
        .ipc(
            .ipcElsewhere, "open", place.name.description, "it was created in another IPC namespace",
            "If the process container that created it is gone, unlink it; otherwise run the group's programs in one IPC"
                + " namespace, as with podman's --ipc=host.")
    }

    /// Returns the object if it exists in the kernel and is complete.
    private func object(of record: IPCRecord) throws(AppGroupError) -> (object: Object, status: clinux_ipc_status)? {
        let id = Object.find(record.key)
        if id == -ENOENT || id == -EINVAL { return nil }
        if id < 0 { throw AppGroupError.kernel(-id, "open", place.name) }
        let object = Object(id: id)
        switch object.status() {
        // Removed meanwhile, or not accessible: another user's object with the same key.
        case .failure: return nil
        case .success(let status):
            return Object.fits(status, record) && object.isMarked(record) ? (object, status) : nil
        }
    }

    /// - Throws: `ipcUntrusted` for an object that others could use.
    private func trustedObject(of record: IPCRecord) throws(AppGroupError) -> Object? {
        guard let (object, status) = try object(of: record) else { return nil }
        guard status.isOpenOnly(to: place.sharing, of: place.owner) else { throw untrusted }
        return object
    }

    private var untrusted: AppGroupError {
        .ipc(
            .ipcUntrusted, "open", place.name.description, "users without access to the container can use it",
            "Stop the programs that use it and remove it with unlink, so that it is created again.")
    }

    // MARK: Making

    private func make() throws(AppGroupError) -> Found {
        // Another process may have been first.
        if let found = try usableRecord() {
            let record = found.record
            if let object = try trustedObject(of: record) { return Found(object: object, record: record) }
            // Another user's record may name any key, and an object that that user began cannot be completed here.
            if found.maker == geteuid(), let object = try made(record) { return Found(object: object, record: record) }
        }
        // Only a process that takes the keys of others can cause another round.
        for _ in 0..<32 {
            let record = IPCRecord(
                new: specification.kind, in: .current(), capacity: specification.capacity, tag: place.tag)
            try place.write(record)
            if let object = try made(record) { return Found(object: object, record: record) }
        }
        throw AppGroupError.kernel(EEXIST, "make", place.name)
    }

    /// Creates the object of a record that this user wrote; returns nil if another object has its key.
    private func made(_ record: IPCRecord) throws(AppGroupError) -> Object? {
        removeUnfinished(record)
        let id = Object.make(record)
        if id == -EEXIST { return nil }
        if id < 0 { throw AppGroupError.kernel(-id, "make", place.name) }
        let object = Object(id: id)
        var result: Int32 = 0
        // Before the stamp: no process uses the object before its permissions match the container's users.
        if let group = place.sharing.groupID { result = object.give(owner: geteuid(), group: group, mode: 0o660) }
        if result == 0 { result = object.complete(record, value: specification.value) }
        if result == 0 { return object }
        _ = object.remove()
        throw AppGroupError.kernel(-result, "make", place.name)
    }

    /// Removes an incomplete object of a killed process of this user: under the lock no process is completing it.
    private func removeUnfinished(_ record: IPCRecord) {
        let id = Object.find(record.key)
        guard id >= 0 else { return }
        let object = Object(id: id)
        let modes: [UInt32] = place.sharing.groupID == nil ? [0o600] : [0o600, 0o660]
        guard case .success(let status) = object.status(), status.creator == geteuid(), status.owner == geteuid(),
            modes.contains(status.mode & 0o777), Object.fits(status, record), object.isUnfinished(record)
        else { return }
        _ = object.remove()
    }

    /// The kernel also grants the unix group's rights to the creator's primary group, permanently (svipc(7)).
    private func requireShareable() throws(AppGroupError) {
        guard let group = place.sharing.groupID, getegid() != group, geteuid() != 0 else { return }
        throw .ipc(
            .ipcNotShareable, "make", place.name.description,
            "this process's primary unix group is \(getegid()), whose members would have access, instead of \(group)",
            "Start it with the container's group as its primary one (Group= of systemd, sg), or after such a program."
        )
    }
}

// MARK: Removing

extension IPCOpening {
    /// Removes the object for all processes, and its record. Damaged objects, those open to others, and those of
    /// another IPC namespace are removed as well. An object of another namespace stays there until its last process
    /// ends.
    ///
    /// - Throws: `AppGroupError` with `ipcNotOwner` if it is another user's; the record then stays as well.
    func remove() throws(AppGroupError) {
        try place.locked("remove") { () throws(AppGroupError) in
            if let record = try reachableRecord(), let found = try object(of: record) {
                let result = found.object.remove()
                if result < 0 && result != -EINVAL && result != -EIDRM { throw refusal(-result) }
            }
            try place.removeRecord()
        }
    }

    private func reachableRecord() throws(AppGroupError) -> IPCRecord? {
        do throws(AppGroupError) {
            return try place.record().map(\.record).flatMap { $0.place == .current() ? $0 : nil }
        } catch {
            guard error.code == .ipcDamaged else { throw error }
            return nil
        }
    }

    private func refusal(_ number: Int32) -> AppGroupError {
        guard number == EPERM else { return .kernel(number, "remove", place.name) }
        return .ipc(
            .ipcNotOwner, "remove", place.name.description,
            "another user created it, and only that user and root can remove it",
            "Ask that user to remove it; ipcs -a shows the user.")
    }
}
