internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

extension Vault {
    /// Changes the vault: lock, read again, edit, log, write whole, publish.
    ///
    /// Nobody else's change is lost, and whoever is killed on the way leaves the old vault or the new one.
    /// - Parameters:
    ///   - event: What the access log says.
    ///   - subject: What it was done to, in clear; the log keeps a keyed hash of it.
    ///   - edit: Changes the draft; when it throws nothing is written. It must not use the vault.
    /// - Throws: What `edit` throws; `VaultError` `.lockTimeout`, `.logFailed`, `.file` and those of `current()`.
    func change<Result>(
        _ event: AccessEvent, subject: [UInt8]? = nil,
        _ edit: (inout VaultDraft) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let lock = try lockForChange()
        let contents = try freshContents()
        keys.expect(contents)
        do throws(VaultError) {
            var draft = VaultDraft(contents, keys: keys, place: place)
            let result = try edit(&draft)
            if !draft.isSettled { try write(draft, after: contents, under: lock, event, subject) }
            return result
        } catch {
            // What is in place, only not surely for good, was done.
            if error.code != .durabilityUnknown { note(event, subject: subject, outcome: error.code.outcome) }
            throw error.code == .locked ? error.explained(for: contents) : error
        }
    }

    private func lockForChange() throws(VaultError) -> HeldLock {
        try VaultError.onFiles("change the vault") { () throws(FileError) in
            try place.lockFile(in: directory).acquire(.whole, .exclusive, timeout: options.lockTimeout)
        }
    }

    private func write(
        _ draft: VaultDraft, after contents: VaultContents, under lock: borrowing HeldLock, _ event: AccessEvent,
        _ subject: [UInt8]?
    ) throws(VaultError) {
        var draft = draft
        let header = VaultHeader(
            purpose: .vault, vaultID: draft.vaultID, generation: nextGeneration(after: contents), slots: draft.slots)
        // The log first, and synced: the head that the vault notes must never be ahead of the log.
        if let head = try noteChange(event, subject, generation: header.generation) {
            draft.body.state.logHead = head
        }
        let file = try VaultSealing.file(header, draft.body, place, root: keys.root, at: draft.now)
        // Read back before it gets a name: no program is ever left with a vault that it wrote and cannot open.
        let image = try VaultImage(parsing: file, path: path)
        let (new, verified) = try VaultReader(place: place).contents(of: image, root: keys.root, keys: keys)
        // A lock whose file was replaced excludes nobody any more: better to fail than to overwrite unseen.
        guard lock.isStillNamed() else {
            throw VaultError(
                .lockTimeout, "change the vault", path, "Its lock file was replaced meanwhile.", advice: "Try again.")
        }
        let doubt = try replace(with: file)
        // What a power loss may take back holds within this boot alone.
        _ = doubt == nil ? watermarks.acknowledge(verified) : watermarks.accept(verified)
        publish(new)
        if let doubt { throw doubt }
    }

    /// Puts the new file in place.
    ///
    /// - Returns: What is to be thrown where the file is in place and may not outlive a power loss.
    private func replace(with file: [UInt8]) throws(VaultError) -> VaultError? {
        do throws(FileError) {
            try directory.replace(VaultPlace.leaf, with: file, mode: directory.fileMode, durability: .durable)
            return nil
        } catch {
            guard error.code == .durabilityUnknown else { throw VaultError(error, "change the vault") }
            return VaultError(
                .durabilityUnknown, "change the vault", path, error.description, advice: error.advice, underlying: error
            )
        }
    }

    /// One more than the write before. Where a person accepts a vault that was refused: one more than what was seen.
    private func nextGeneration(after contents: VaultContents) -> UInt64 {
        let before = contents.head.header.generation
        guard options.acceptsRollback else { return before + 1 }
        watermarks.refresh()
        let seen = watermarks.mark(of: VaultSealing.context(accessGroup).nameTag)?.sequence ?? before
        return min(seen, VaultHeader.maximumGeneration - 1) + 1
    }
}

extension VaultError.Code {
    /// What the access log says of a change that was not made.
    fileprivate var outcome: AccessOutcome {
        let failures: Set<Self> = [.file, .lockTimeout, .outOfMemory, .logFailed, .denied, .unsafeFile]
        return failures.contains(self) ? .failed : .refused
    }
}

extension VaultError {
    /// A vault that nobody could unlock further needs another advice than to unlock it.
    func explained(for contents: VaultContents) -> VaultError {
        guard !contents.head.header.slots.contains(where: { $0.reach == .whenUnlocked }) else { return self }
        return VaultError(
            code, operation, subject, "None of its key slots reaches what is protected \"when unlocked\".",
            advice: "Add a passphrase or recipient slot first: sealctl vault slot add.")
    }
}
