public import AppGroups
internal import CryptoPrimitives
internal import SharedFiles

extension Vault {
    /// Unlocks the vault for all programs of this user: they open it without a credential, with `.automatic` or
    /// `.unlocked`.
    ///
    /// What is protected *after first unlock* stays available until the machine restarts, or until the vault is locked
    /// with `everything` or has no unattended slots when it is locked.
    /// What is protected *when unlocked* is made available too if this vault was opened by a person's slot, and stays so
    /// until it is locked or the time is up; from here on that holds for this vault as well.
    ///
    /// The user's first unlock makes the lock stamp in the vault's directory, where that can be written to. Programs that were
    /// given a passphrase before go on with the key that this one shares, and end with it.
    ///
    /// The keys lie in memory: in the kernel's user keyring, or in a file of the user's runtime directory.
    /// - Parameter lifetime: How long *when unlocked* lasts, sleep included; nil for until it is locked.
    /// - Returns: Whether what is protected *when unlocked* is available now, too.
    /// - Throws: `VaultError` `.noUnlockCache`; `.locked` when somebody locked the vault meanwhile; `.invalidArgument` for
    ///   a time that is not positive or beyond 100 years.
    @discardableResult
    public func unlock(for lifetime: Duration? = nil) throws(VaultError) -> Bool {
        if let lifetime, lifetime <= .zero || lifetime > Self.longestUnlock {
            throw VaultError(
                .invalidArgument, "unlock", path, "A time limit is more than nothing and at most 100 years.",
                advice: "Leave it out to unlock until the vault is locked.")
        }
        let isWhole = try keys.share(for: lifetime)
        note(.unlocked)
        return isWhole
    }

    private static let longestUnlock = Duration.seconds(100 * 365 * 86_400)

    /// Whether what is protected *when unlocked* can be used through this vault now.
    ///
    /// - Throws: `VaultError` `.unsafeFile` or `.file` when that cannot be told.
    public func isUnlocked() throws(VaultError) -> Bool {
        // A rekey since the last look may have ended what was unlocked.
        _ = try? current()
        return try keys.reachesPerson()
    }

    /// Locks the vault for all programs of this user. Takes no credential, and it may be locked already.
    ///
    /// What is protected *when unlocked* is refused from each program's next use on, whether it found the key in memory or
    /// was given the passphrase itself. Where a service has a slot, what is protected *after first unlock* stays available, as
    /// on a device; in a vault without unattended slots both classes are locked, as with `everything`. The result states which.
    /// It is complete once the vault's lock stamp is replaced: also from within a sandbox that cannot reach the place where
    /// the keys wait.
    /// - Parameter everything: Takes back the keys of *after first unlock* as well, as a restart would: programs that
    ///   have the vault open keep them until they end, others need a credential again. This takes them only out of places
    ///   that this program can reach.
    /// - Throws: `VaultError` `.absent`, `.corrupt`, `.denied`, `.unsafeFile` or `.file`. After an error as many programs
    ///   as could be reached are locked: of a damaged vault all, from what is protected *when unlocked*.
    @discardableResult
    public static func lock(
        _ accessGroup: AccessGroup, in home: GroupsHome, everything: Bool = false,
        options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> LockReport {
        let place = VaultPlace(accessGroup, in: home)
        guard let directory = try place.openDirectory() else { throw absent(place) }
        // The stamp first: it takes nothing but the directory, and a program that stores a key after the caches were
        // emptied looks at it once more.
        var failure: VaultError?
        do throws(VaultError) { try LockStamp.replace(in: directory) } catch { failure = error }
        guard let files = try VaultFiles.read(place, in: directory, memory: nil, team: nil) else { throw absent(place) }
        let caches = UnlockCaches.current
        let log = try? logAtHand(files, place, directory, caches, options)
        // Where no service opens the vault, nobody else is meant to go on after a lock.
        let hasServices = files.slots().contains { $0.reach == .afterFirstUnlock }
        let locksAll = everything || !hasServices
        let head = files.service?.head
        let write = VaultWrite(.service, period: head?.period ?? 0, generation: head?.generation ?? 0)
        for protection in locksAll ? ProtectionClass.allCases : [.whenUnlocked] {
            let name = UnlockName(vaultID: files.vaultID, protection)
            do throws(VaultError) { try caches.remove(name) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
        _ = try? log?.append(.locked, outcome: .succeeded, subject: nil, generation: write.encoded)
        return LockReport(
            locked: locksAll ? ProtectionClass.allCases : [.whenUnlocked], hasUnattendedSlots: hasServices)
    }

    private static func absent(_ place: VaultPlace) -> VaultError {
        VaultError(.absent, "lock", place.path, "There is none for \(place.accessGroup).")
    }

    /// The access log, while the root that is about to be taken back still gives its key; nil without it.
    private static func logAtHand(
        _ files: VaultFiles, _ place: VaultPlace, _ directory: Directory, _ caches: UnlockCaches,
        _ options: VaultOptions
    ) throws(VaultError) -> AccessLog? {
        guard options.accessLog != .off, let root = try caches.serviceRoot(vaultID: files.vaultID),
            let file = files.service
        else { return nil }
        let contents = try CompartmentContents(file, root: root, place: place)
        guard
            let keys = try AccessLogKeys(
                contents.secrets, period: contents.head.period, vaultID: files.vaultID, root: root, path: place.path)
        else { return nil }
        return AccessLog(directory: directory, mode: directory.fileMode, keys: keys)
    }
}

/// The result of a lock.
public struct LockReport: Sendable, Hashable {
    /// The classes that are locked now for this user's programs.
    public let locked: [ProtectionClass]
    /// Whether key files, credentials or unattended recipients open *after first unlock* all the same.
    public let hasUnattendedSlots: Bool
}
