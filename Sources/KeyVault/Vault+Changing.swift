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
        do throws(VaultError) {
            var draft = VaultDraft(contents, keys: keys, place: place)
            let result = try edit(&draft)
            try write(draft, after: contents, under: lock, event, subject)
            return result
        } catch {
            note(event, subject: subject, outcome: .failed)
            throw error
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
        // A lock whose file was replaced excludes nobody any more: better to fail than to overwrite unseen.
        guard lock.isStillNamed() else {
            throw VaultError(
                .lockTimeout, "change the vault", path, "Its lock file was replaced meanwhile.", advice: "Try again.")
        }
        try VaultError.onFiles("change the vault") { () throws(FileError) in
            try directory.replace(
                VaultPlace.leaf, with: file, mode: directory.fileMode, durability: .durable)
        }
        try reload()
    }

    /// Beyond what lies there, and beyond what was seen before where an older copy is accepted.
    private func nextGeneration(after contents: VaultContents) -> UInt64 {
        let seen = watermarks.mark(of: VaultSealing.context(accessGroup).nameTag)?.sequence ?? 0
        return max(contents.head.header.generation, seen) + 1
    }
}
