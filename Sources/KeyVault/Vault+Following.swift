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

    /// How often a vault that was overtaken while it was read is read again.
    private static var maximumRereads: Int { 16 }

    /// What the file holds now, checked as at opening.
    ///
    /// A change by another program may come between reading the file and judging it: then it looks like an older copy,
    /// and reading it again ends the race. Only a file that stays as it was is one.
    func freshContents() throws(VaultError) -> VaultContents {
        var previous: [UInt8]?
        var attempts = 0
        while true {
            let (contents, header) = try readContents()
            let verdict = watermarks.accept(header)
            if options.acceptsRollback || verdict == .advances || verdict == .same { return contents }
            guard contents.head.bytes != previous, attempts < Self.maximumRereads else {
                throw rolledBack(verdict, contents)
            }
            previous = contents.head.bytes
            attempts += 1
        }
    }

    private func readContents() throws(VaultError) -> (VaultContents, VerifiedHeader) {
        guard let file = try VaultFile.open(in: directory) else {
            throw VaultError(
                .absent, "read the vault", path, "Its file was removed while it was open.",
                advice: "Restore it from a backup; nothing is made meanwhile.")
        }
        guard file.head.header.vaultIDText == vaultID, file.head.header.purpose == .vault else {
            throw VaultError(
                .replaced, "read the vault", path, "Another vault was put in its place while it was open.",
                advice: "Open it again.")
        }
        return try VaultReader(place: place).contents(of: file, root: keys.root, keys: keys)
    }

    private func isUnchanged(since known: VaultContents) throws(VaultError) -> Bool {
        do throws(FileError) {
            return try directory.readPrefix(VaultPlace.leaf, count: known.head.bytes.count).bytes == known.head.bytes
        } catch {
            if error.code == .notFound { return false }
            throw VaultError(error, "read the vault")
        }
    }

    /// An older write than this user's programs have seen, another one of the same number, or one that no number of
    /// writes leads to.
    private func rolledBack(_ verdict: Watermark.Verdict, _ contents: VaultContents) -> VaultError {
        let generation = contents.head.header.generation
        let reason =
            switch verdict {
            case .forked: "It is another write \(generation) than this user's programs have seen."
            case .jumps: "It is write \(generation), too far ahead of what this user's programs have seen."
            default: "It is write \(generation); a later one was seen by this user's programs."
            }
        return VaultError(.rolledBack, "open the vault", path, reason)
    }
}
