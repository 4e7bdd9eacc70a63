public import AppGroups
internal import CryptoPrimitives
internal import SharedFiles

extension Vault {
    /// Unlocks the vault for all programs of this user: they open it without a credential, with `.automatic` or
    /// `.unlocked`.
    ///
    /// *After first unlock* stays available until the machine restarts, or until the vault is locked with `everything`
    /// or has no unattended slots when it is locked. *When unlocked* becomes available too if this vault was opened by
    /// a person's slot, and stays so until the vault is locked or the time has expired; from here on that applies to
    /// this vault as well.
    ///
    /// The user's first unlock creates the lock stamp in the vault's directory, if it is writable. Programs that were
    /// given a passphrase before continue with the key that this one shares, and end with it.
    ///
    /// The keys are stored in memory: in the kernel's user keyring, or in a file of the user's runtime directory.
    /// - Parameter lifetime: The duration of *when unlocked*, including sleep; `nil` until the vault is locked.
    /// - Returns: Whether *when unlocked* is available now, too.
    /// - Throws: `VaultError` `.noUnlockCache`; `.locked` if another program locked the vault meanwhile;
    ///   `.invalidArgument` for a time that is not positive or beyond 100 years.
    @discardableResult
    public func unlock(for lifetime: Duration? = nil) throws(VaultError) -> Bool {
        if let lifetime, lifetime <= .zero || lifetime > Self.longestUnlock {
            throw VaultError(
                .invalidArgument, "unlock", path, "A time limit is more than zero and at most 100 years.",
                advice: "Leave it out to unlock until the vault is locked.")
        }
        let isWhole = try keys.share(for: lifetime)
        note(.unlocked)
        return isWhole
    }

    private static let longestUnlock = Duration.seconds(100 * 365 * 86_400)

    /// Returns whether *when unlocked* can be used through this vault now.
    ///
    /// - Throws: `VaultError` `.unsafeFile` or `.file` if the check fails.
    public func isUnlocked() throws(VaultError) -> Bool {
        // A rekey since the last look may have ended the unlocking.
        _ = try? current()
        return try keys.reachesPerson()
    }

    /// Locks the vault for all programs of this user. It needs no credential, and the vault may be locked already.
    ///
    /// *When unlocked* is refused from each program's next use on, whether the program found the key in memory or was
    /// given the passphrase itself. If a service has a slot, *after first unlock* stays available, as on a device. In a
    /// vault without unattended slots both classes are locked, as with `everything`. The result states the locked
    /// classes. The lock is complete once the vault's lock stamp is replaced, even within a sandbox that cannot reach
    /// the stored keys.
    ///
    /// The keys of the vault that this user's programs remember at the place are withdrawn, even if the place now
    /// contains other files.
    /// - Parameters:
    ///   - accessGroup: The group of the vault.
    ///   - home: The home of the group's files.
    ///   - everything: Withdraws the keys of *after first unlock* as well, as a restart would: programs that have the
    ///     vault open keep them until they end, others need a credential again. This removes them only from places that
    ///     this program can reach.
    ///   - options: The options of the vault.
    /// - Throws: `VaultError` `.absent`, `.missing`, `.replaced`, `.corrupt`, `.denied`, `.unsafeFile` or `.file`.
    ///   After an error, as many programs as could be reached are locked: all programs from *when unlocked* if the
    ///   vault is damaged, and all from both classes if it is missing or replaced.
    @discardableResult
    public static func lock(
        _ accessGroup: AccessGroup, in home: GroupsHome, everything: Bool = false,
        options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> LockReport {
        var locking = VaultLocking(VaultPlace(accessGroup, in: home), everything: everything)
        let (directory, files) = try locking.begin()
        let log = try? availableLog(files, locking.place, directory, locking.caches, options)
        // If no service opens the vault, no program may continue after a lock.
        let hasServices = files.slots().contains { $0.reach == .afterFirstUnlock }
        let locked = everything || !hasServices ? ProtectionClass.allCases : [.whenUnlocked]
        let head = files.service?.head
        let write = VaultWrite(.service, period: head?.period ?? 0, generation: head?.generation ?? 0)
        locking.takeBack(files.vaultID, locked)
        try locking.end(files.vaultID)
        _ = try? log?.append(.locked, outcome: .succeeded, subject: nil, generation: write.encoded)
        return LockReport(locked: locked, hasUnattendedSlots: hasServices)
    }

    /// Returns the access log, while the root to be withdrawn still gives its key; `nil` without the root.
    private static func availableLog(
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

/// A lock of the vault remembered at a place and of the one stored there.
private struct VaultLocking {
    let place: VaultPlace
    let caches = UnlockCaches.current
    private let isWhole: Bool
    /// The vault that this user's programs remember, or two if their memories contradict each other: another member can
    /// replace its files with those of another vault.
    private let known: [[UInt8]]
    private var failure: VaultError?

    init(_ place: VaultPlace, everything: Bool) {
        self.place = place
        isWhole = everything
        known = place.memory.vaultIDs
    }

    /// Locks all programs out of *when unlocked*, and reads the files.
    mutating func begin() throws(VaultError) -> (Directory, VaultFiles) {
        do throws(VaultError) {
            guard let directory = try place.openDirectory() else { throw nothing }
            // The stamp first: it needs only the directory, and a program that stores a key after the caches were
            // emptied checks it again.
            do throws(VaultError) { try LockStamp.replace(in: directory) } catch { failure = error }
            for vaultID in known { takeBack(vaultID, [.whenUnlocked]) }
            guard let files = try VaultFiles.read(place, in: directory, memory: nil, team: nil) else { throw nothing }
            return (directory, files)
        } catch {
            let isGone = error.code == .absent || error.code == .missing
            for vaultID in known { takeBack(vaultID, isWhole || isGone ? ProtectionClass.allCases : [.whenUnlocked]) }
            throw error
        }
    }

    /// Withdraws the keys of a vault from all accessible caches.
    mutating func takeBack(_ vaultID: [UInt8], _ classes: [ProtectionClass]) {
        for protection in classes {
            do throws(VaultError) { try caches.remove(UnlockName(vaultID: vaultID, protection)) } catch {
                failure = failure ?? error
            }
        }
    }

    /// - Throws: `VaultError` `.replaced` if a vault that no memory names is in the place, whose slots say nothing about
    ///   the known one; the first failure.
    mutating func end(_ vaultID: [UInt8]) throws(VaultError) {
        let others = known.filter { $0 != vaultID }
        for other in others { takeBack(other, ProtectionClass.allCases) }
        if let failure { throw failure }
        // If one of the memories names this vault, its slots say what they should.
        guard !others.isEmpty, !known.contains(vaultID) else { return }
        throw VaultError(
            .replaced, "lock", place.path,
            "It is not the vault that this user's programs have seen there. Both are locked now.",
            advice: "Ask the person who shares it with you; to continue with this vault: sealctl vault accept.")
    }

    private var nothing: VaultError {
        known.isEmpty
            ? VaultError(.absent, "lock", place.path, "\(place.accessGroup) has no vault.")
            : .missing(place.path, "This user's programs have opened a vault there, and it is missing now.")
    }
}

/// The result of a lock.
public struct LockReport: Sendable, Hashable {
    /// The classes that are now locked for this user's programs.
    public let locked: [ProtectionClass]
    /// `true` if key files, credentials or unattended recipients still open *after first unlock*.
    public let hasUnattendedSlots: Bool
}
