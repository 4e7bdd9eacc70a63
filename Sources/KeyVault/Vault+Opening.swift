public import AppGroups
internal import Sealing
internal import SharedFiles

extension Vault {
    /// Opens the vault of an access group. Nothing is made; the access log and what this user's programs have seen are
    /// written on.
    ///
    /// - Throws: `VaultError`: `.absent`, `.locked`, `.denied`, `.corrupt`, `.wrongPassphrase`, `.wrongKeyFile`,
    ///   `.rolledBack`, … are different answers; the file is unchanged after each. `.notEntitled` and `.entitlements` come
    ///   before anything is looked at.
    public static func open(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic,
        options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        try options.requireEntitlement(to: accessGroup)
        let place = VaultPlace(accessGroup, in: home)
        guard let vault = try openIfPresent(place, with: credential, options) else {
            throw VaultError(.absent, "open the vault", place.path, "There is none for \(accessGroup).")
        }
        return vault
    }

    /// The vault, or nil only where there is no file at all.
    static func openIfPresent(
        _ place: VaultPlace, with credential: VaultCredential, _ options: VaultOptions
    ) throws(VaultError) -> Vault? {
        guard let directory = try place.openDirectory(), let file = try VaultFile.open(in: directory) else {
            return nil
        }
        guard file.head.header.purpose == .vault else {
            throw VaultError(.isAnExport, "open the vault", place.path, "It is a backup, not a vault in use.")
        }
        do throws(VaultError) {
            // Before the credential is tried: a lock that comes meanwhile counts.
            let stamp = LockStamp.ifReadable(in: directory.path)
            let opened = try CredentialOpening(file.head, place).open(with: credential)
            let slot = opened.id
            let keys = ClassKeys(
                opened.takeSecrets(), vaultID: file.head.header.vaultID, directory: directory, openedAt: stamp,
                slot: slot)
            return try open(file, place, directory, keys, credential, options)
        } catch {
            noteFailedOpening(in: directory, file.head.header, options)
            throw error
        }
    }

    private static func open(
        _ file: borrowing VaultFile, _ place: VaultPlace, _ directory: Directory, _ keys: ClassKeys,
        _ credential: VaultCredential, _ options: VaultOptions
    ) throws(VaultError) -> Vault {
        let (contents, header) = try VaultReader(place: place).contents(of: file, root: keys.root, keys: keys)
        if case .identity = credential {
            let recognition = VaultRecognition(
                place: place, watermarks: place.watermarks(of: file.head.header, root: keys.root))
            if options.acceptsRollback { try recognition.acceptAsNew() } else { try recognition.check() }
        }
        return try open(contents, header, place, directory, keys, options)
    }

    /// A vault whose contents were opened, or just made.
    static func open(
        _ contents: VaultContents, _ header: VerifiedHeader, _ place: VaultPlace, _ directory: Directory,
        _ keys: ClassKeys, _ options: VaultOptions
    ) throws(VaultError) -> Vault {
        let watermarks = place.watermarks(of: contents.head.header, root: keys.root)
        let log = AccessLog(directory: directory, mode: directory.fileMode, key: keys.root.derived(.accessLogKey))
        let verdict = watermarks.accept(header)
        let vault = Vault(
            place: place, directory: directory, keys: keys, options: options,
            watermarks: watermarks, log: log, contents: contents)
        // Another program may have written on meanwhile; what still lies there decides.
        if verdict != .advances && verdict != .same { try vault.reload() }
        vault.note(.opened)
        return vault
    }

    /// Without a key: whoever failed to open the vault has none.
    private static func noteFailedOpening(in directory: Directory, _ header: VaultHeader, _ options: VaultOptions) {
        guard options.accessLog != .off else { return }
        try? AccessLog.noteFailedOpening(in: directory, mode: directory.fileMode, generation: header.generation)
    }
}
