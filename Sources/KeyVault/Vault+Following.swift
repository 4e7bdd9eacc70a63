internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

/// Following the file: another program may have changed it since it was read.
extension Vault {
    /// The contents as they are now. Costs one look at the file's front part when nothing changed.
    ///
    /// - Throws: `VaultError` `.absent`, `.replaced`, `.rolledBack`, `.corrupt`, `.unsupported`, `.unsafeFile`, `.file`.
    func current() throws(VaultError) -> VaultContents {
        let known = heldContents
        if try isUnchanged(since: known) { return known }
        return try reload()
    }

    /// A look at the file unless the last one was within the last second: for readers on a hot path, which may learn of
    /// a rotation that much later.
    ///
    /// - Returns: The keyring of the last look that went well; a file that cannot be read takes no key away.
    package func recentKeyring() -> Keyring {
        if lookTimer.isDue() { _ = try? current() }
        return keyring
    }

    /// The keyring after a look at the file.
    ///
    /// - Throws: As `current()`.
    package func currentKeyring() throws(VaultError) -> Keyring { try current().keyring }

    /// Reads the file anew.
    @discardableResult
    func reload() throws(VaultError) -> VaultContents {
        let contents = try freshContents()
        publish(contents)
        return contents
    }

    /// What the file holds now, checked as at opening.
    func freshContents() throws(VaultError) -> VaultContents {
        guard let file = try VaultFile.open(in: directory) else {
            throw VaultError(
                .absent, "read the vault", path, "Its file was removed while it was open.",
                advice: "Restore it from a backup; nothing is made meanwhile.")
        }
        return try contents(of: file)
    }

    private func contents(of file: borrowing VaultFile) throws(VaultError) -> VaultContents {
        guard file.head.header.vaultIDText == vaultID, file.head.header.purpose == .vault else {
            throw VaultError(
                .replaced, "read the vault", path, "Another vault was put in its place while it was open.",
                advice: "Open it again.")
        }
        let (contents, header) = try VaultReader(place: place).contents(of: file, root: keys.root, keys: keys)
        try requireForward(watermarks.accept(header), contents)
        return contents
    }

    private func isUnchanged(since known: VaultContents) throws(VaultError) -> Bool {
        do throws(FileError) {
            return try directory.readPrefix(VaultPlace.leaf, count: known.head.bytes.count).bytes == known.head.bytes
        } catch {
            if error.code == .notFound { return false }
            throw VaultError(error, "read the vault")
        }
    }

    /// - Throws: `VaultError` `.rolledBack` for an older write than this user's programs have seen, or another one of the
    ///   same number.
    private func requireForward(_ verdict: Watermark.Verdict, _ contents: VaultContents) throws(VaultError) {
        guard !options.acceptsRollback, verdict == .replayed || verdict == .forked else { return }
        let generation = contents.head.header.generation
        throw VaultError(
            .rolledBack, "open the vault", path,
            verdict == .replayed
                ? "It is write \(generation); a later one was seen by this user's programs."
                : "It is another write \(generation) than this user's programs have seen.")
    }
}
