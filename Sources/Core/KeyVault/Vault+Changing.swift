internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles
internal import Synchronization

extension Vault {
    /// Changes the vault: lock, read again, edit, log, write the whole files, publish.
    ///
    /// No other program's change is lost. If the process is killed, each file is the whole old one or the whole new
    /// one.
    /// - Parameters:
    ///   - event: The entry in the access log.
    /// - subject: The changed object, in plaintext; the log contains a keyed hash of it.
    ///   - needsPerson: Whether the change needs the person compartment.
    ///   - order: The order in which the files are written if both change.
    ///   - isForced: Whether the files are written although nothing changed.
    ///   - edit: Changes the draft; if it throws, nothing is written. It must not use the vault.
    /// - Throws: The errors of `edit`; `VaultError` `.lockTimeout`, `.logFailed`, `.file` and those of `current()`.
    func change<Result>(
        _ event: AccessEvent, subject: [UInt8]? = nil, needsPerson: Bool = false,
        order: [CompartmentRole] = [.person, .service], isForced: Bool = false,
        _ edit: (inout VaultDraft) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try changeReportingLog(
            event, subject: subject, needsPerson: needsPerson, order: order, isForced: isForced, edit
        ).result
    }

    /// Makes a change in the same way, and also returns whether the access log has an entry for it.
    func changeReportingLog<Result>(
        _ event: AccessEvent, subject: [UInt8]? = nil, needsPerson: Bool = false,
        order: [CompartmentRole] = [.person, .service], isForced: Bool = false,
        _ edit: (inout VaultDraft) throws(VaultError) -> Result
    ) throws(VaultError) -> (result: Result, isLogged: Bool) {
        if heldContents.register?.nextRoot != nil { try completeRekey() }
        let lock = try lockForChange()
        let contents = try freshContents()
        publish(contents)
        guard !needsPerson || contents.register?.nextRoot == nil else {
            throw VaultError(
                .lockTimeout, "change the vault", path, "A rekey was started and is not completed.",
                advice: "Try again.")
        }
        do throws(VaultError) {
            var draft = try self.draft(of: contents, needsPerson: needsPerson)
            let result = try edit(&draft)
            if draft.person != nil { draft.completeSlots() }
            let files = order.filter { $0 == .service || draft.person != nil }
            let isLogged = try write(
                &draft, after: contents, under: lock, isForced ? files : order, event, subject, isForced: isForced)
            return (result, isLogged)
        } catch {
            // A change that is in place, even if perhaps not durable, was made.
            if error.code != .durabilityUnknown { note(event, subject: subject, outcome: error.code.outcome) }
            throw error.code == .locked ? error.explained(for: contents) : error
        }
    }

    /// Returns the draft of a change to contents that were read under the lock.
    private func draft(of contents: VaultContents, needsPerson: Bool) throws(VaultError) -> VaultDraft {
        let root = keys.service
        guard needsPerson, contents.register?.person != nil else {
            return try VaultDraft(contents, root: root, person: nil, slotID: keys.slotID, place: place)
        }
        return try keys.withPerson { person throws(VaultError) in
            let opened = try contents.person(person, place: place)
            return try VaultDraft(
                contents, root: root, person: (person, opened), slotID: keys.slotID, place: place)
        }
    }

    func lockForChange() throws(VaultError) -> HeldLock {
        try VaultError.onFiles("change the vault") { () throws(FileError) in
            try place.acquireLock(in: directory, options)
        }
    }

    /// Writes the changed files one after the other.
    ///
    /// - Returns: Whether the access log has an entry for each of them.
    @discardableResult
    func write(
        _ draft: inout VaultDraft, after contents: VaultContents, under lock: borrowing HeldLock,
        _ order: [CompartmentRole], _ event: AccessEvent, _ subject: [UInt8]?, isForced: Bool = false,
        publishing: Bool = true
    ) throws(VaultError) -> Bool {
        let files = isForced ? Set(order) : draft.changedFiles
        guard !files.isEmpty else { return true }
        // If `vault` is damaged, the log has no key, and a member can put a directory in the log's place. Neither may
        // prevent the removal of that member, or block persons from their own contents.
        let hasNoKey = draft.serviceFailure != nil || contents.logKeys == nil
        let endsAccess = [.rekeyed, .rotationBegun, .rotationCompleted].contains(event)
        let mayBeUnlogged = event.isDeletion || endsAccess || draft.isRebuilt || hasNoKey
        var isLogged = true
        if let keys = contents.logKeys { log.follow(keys) }
        // Write and sync the log first: the head that the vault notes must never be ahead of the log.
        for role in order where files.contains(role) {
            let noted = try noteChange(
                event, subject, draft.nextWrite(role), mayBeUnlogged: mayBeUnlogged, isKeyNewest: !hasNoKey)
            guard let (head, key) = noted else {
                isLogged = false
                continue
            }
            (draft.service.state.logHead, draft.service.state.logKey) = (head, key)
            draft.person?.state.logHead = head
            draft.person?.state.logKey = key
        }
        // Both images are complete before the first gets its name, so that a refused change has changed nothing.
        var images: [(role: CompartmentRole, bytes: [UInt8])] = []
        for role in order where files.contains(role) { images.append((role, try draft.file(role))) }
        if !isLogged, options.accessLog != .off { unlogged.add(1, ordering: .relaxed) }
        var doubt: VaultError?
        for (role, bytes) in images {
            doubt = try replace(bytes, role, under: lock, isDeletion: event.isDeletion) ?? doubt
        }
        if publishing {
            do throws(VaultError) { try takeOver(draft, written: doubt == nil ? files : []) } catch {
                // The change is in place: a caller that treats it as refused would repeat it.
                guard error.code == .file else { throw error }
                throw VaultError(
                    .durabilityUnknown, "read the changed vault", path, "It is written. \(error.reason)",
                    advice: "Open the vault again before you repeat the change.", underlying: error.underlying)
            }
        }
        reserve.keep()
        if let doubt { throw doubt }
        return isLogged
    }

    /// Reads back the written files, so that no program continues with a vault that it wrote and cannot open.
    ///
    /// A member with write access to the directory needs no lock. A register that another program put there meanwhile
    /// changes neither the held contents nor the memory of the place.
    /// - Throws: `VaultError` `.replaced` for another register than the written one; `.missing`; those of reading.
    func takeOver(_ draft: VaultDraft, written: Set<CompartmentRole>) throws(VaultError) {
        keys.follow(service: draft.service.root, person: draft.person?.root, slot: nil)
        guard let files = try VaultFiles.read(place, in: directory, memory: nil, team: nil) else {
            throw .missing(path, "Its files were removed in the meantime.")
        }
        guard files.register?.hash == draft.register.hash else {
            throw .replaced(path, "Another program replaced it after this one had written it.")
        }
        let root = draft.service.root
        let older = draft.isServiceOlder ? draft.serviceFailure : nil
        let contents: VaultContents
        do throws(VaultError) {
            contents = try VaultContents(
                files, root: root, person: draft.person?.root, place: place, memory: nil, older: older)
        } catch {
            // A person who changes service contents continues even if service keys in the file do not open.
            guard error.code == .corrupt, let person = try? keys.withPerson({ root throws(VaultError) in root }) else {
                throw error
            }
            contents = try VaultContents(files, root: root, person: person, place: place, memory: nil)
        }
        if draft.serviceFailure == nil { _ = try contents.service }
        if let root = draft.person?.root { _ = try contents.person(root, place: place) }
        _ = contents.accept(watermarks, accessGroup: accessGroup, acknowledged: written)
        publish(contents)
        remember(contents, after: try? place.memory.load(), draft.service.root)
    }

    /// Replaces a file by a new one.
    ///
    /// - Returns: The error to throw if the file is in place but may not survive a power loss.
    private func replace(
        _ file: [UInt8], _ role: CompartmentRole, under lock: borrowing HeldLock, isDeletion: Bool
    ) throws(VaultError) -> VaultError? {
        // Parsed before it gets a name, so that a file that its reader refuses never gets one.
        _ = try CompartmentHead(
            parsing: Array(file.prefix(CompartmentHead.maximumSize)), path: place.path(of: role))
        // A lock whose file was replaced no longer excludes other programs: fail rather than overwrite their changes.
        guard lock.isStillNamed() else {
            throw VaultError(
                .lockTimeout, "change the vault", path, "Its lock file was replaced in the meantime.",
                advice: "Try again.")
        }
        do throws(FileError) {
            try file.withRawBytes { bytes throws(FileError) in
                if isDeletion {
                    try reserve.replace(role.leaf, with: bytes, mode: directory.fileMode, durability: .durable)
                } else {
                    try directory.replace(role.leaf, with: bytes, mode: directory.fileMode, durability: .durable)
                }
            }
            reserve.expect(file.count, roundedUpTo: VaultPlace.reserveStep)
            return nil
        } catch {
            guard error.code == .durabilityUnknown else { throw VaultError(error, "change the vault") }
            return VaultError(
                .durabilityUnknown, "change the vault", path, error.reason, advice: error.advice, underlying: error)
        }
    }
}

extension AccessEvent {
    /// `true` if the change removes something permanently. Then neither a full disk nor the log prevents it.
    var isDeletion: Bool { self == .itemDeleted || self == .keyDestroyed }
}

extension VaultError.Code {
    /// The outcome in the access log of a change that was not made.
    var outcome: AccessOutcome {
        let failures: Set<Self> = [.file, .lockTimeout, .cancelled, .outOfMemory, .logFailed, .denied, .unsafeFile]
        return failures.contains(self) ? .failed : .refused
    }
}

extension VaultError {
    /// Replaces the advice to unlock a vault that cannot be unlocked further.
    func explained(for contents: VaultContents) -> VaultError {
        guard let register = contents.register, register.person == nil else { return self }
        return .noPersons(subject)
    }
}
