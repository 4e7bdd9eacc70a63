internal import CLinux
internal import Glibc
package import SharedFiles
internal import SystemPackage

/// Tickets as keys of type `user` in the kernel's user keyring: never on a disk, never swapped with a process, and
/// erased when the machine restarts (keyrings(7)).
///
/// All logins and services of a user share the user keyring. Only the user has rights on a key, its possessor has none:
/// otherwise a program that was started as another user with this user's session keyring could read it.
struct KernelKeyring: UnlockCache {
    /// For the user: view, read, search, link and set attributes, but not write. For possessor, group and others: nothing.
    private static let permissions: UInt32 = 0x003B_0000
    private static let type = "user"

    var place: UnlockPlace { .kernelKeyring }

    /// `true` if the keyring can be searched. Searches for a name that is never used, as every other call begins with a
    /// search.
    var isUsable: Bool {
        let found = clinux_key_search(clinux_user_keyring, Self.type, "sealedstate-")
        return found >= 0 || Self.isMissing(found)
    }

    /// Creates the key separately and links it when it is complete. Linking replaces the old one in one step, and no
    /// key is ever without its permissions or its time limit.
    func store(
        _ ticket: UnsafeRawBufferPointer, as name: UnlockName, for lifetime: Duration?
    ) throws(VaultError) {
        let displaced = clinux_key_search(clinux_user_keyring, Self.type, name.text)
        let key = clinux_key_add(
            clinux_thread_keyring, Self.type, name.text, ticket.baseAddress, UInt64(ticket.count))
        guard key >= 0 else { throw refusal(key) }
        let result = publish(key, for: lifetime)
        _ = clinux_key_unlink(key, clinux_thread_keyring)
        guard result >= 0 else { throw refusal(result) }
        // A replaced key can be read by its number until the kernel has collected it.
        if displaced >= 0 { Self.end(displaced) }
    }

    /// Returns the error of a store. An exhausted quota means that the next cache is tried.
    private func refusal(_ result: Int32) -> VaultError {
        let error = failure(result)
        return -result == EDQUOT ? .noUnlockCache(place, error.reason) : error
    }

    private func publish(_ key: Int32, for lifetime: Duration?) -> Int32 {
        if let lifetime {
            let result = clinux_key_set_timeout(key, Self.seconds(lifetime))
            if result < 0 { return result }
        }
        let result = clinux_key_set_permissions(key, Self.permissions)
        // Without a possessor's rights, linking needs the user's, which were just granted.
        return result < 0 ? result : clinux_key_link(key, clinux_user_keyring)
    }

    func read(_ name: UnlockName, into buffer: UnsafeMutableRawBufferPointer) throws(VaultError) -> Int? {
        let key = clinux_key_search(clinux_user_keyring, Self.type, name.text)
        if Self.isMissing(key) { return nil }
        guard key >= 0 else { throw failure(key) }
        let size = clinux_key_read(key, buffer.baseAddress, UInt64(buffer.count))
        // Between the two calls the key may have been removed, or have expired.
        if Self.isMissing(Int32(truncatingIfNeeded: size)) { return nil }
        guard size >= 0 else { throw failure(Int32(truncatingIfNeeded: size)) }
        return size <= buffer.count ? Int(size) : nil
    }

    func remove(_ name: UnlockName) throws(VaultError) {
        try remove(
            searching: { clinux_key_search(clinux_user_keyring, Self.type, name.text) },
            ending: { key in
                Self.end(key)
                _ = clinux_key_unlink(key, clinux_user_keyring)
            })
    }

    /// Searches again after each removal, because several programs may be storing at once.
    ///
    /// - Throws: `VaultError` `.file` if a key is still found after the last try.
    func remove(searching search: () -> Int32, ending end: (Int32) -> Void) throws(VaultError) {
        for _ in 0..<8 {
            let key = search()
            if Self.isMissing(key) { return }
            guard key >= 0 else { throw failure(key) }
            end(key)
        }
        let left = search()
        if Self.isMissing(left) { return }
        guard left >= 0 else { throw failure(left) }
        throw VaultError(
            .file, "remove the unlocked keys from", place.description, "They appear again after each removal.",
            advice: "Find the program that adds them (keyctl show @u), and lock again.")
    }

    /// Does nothing: the kernel drops expired keys.
    func wipeExpired(_ name: UnlockName) {}

    /// Revokes a key for all processes, including those that know its number.
    private static func end(_ key: Int32) {
        if clinux_key_invalidate(key) < 0 { _ = clinux_key_revoke(key) }
    }

    private static func isMissing(_ result: Int32) -> Bool {
        [ENOKEY, EKEYEXPIRED, EKEYREVOKED].contains(-result)
    }

    /// Adds up to two seconds, so that the ticket's own, finer limit decides: the kernel counts from the current whole
    /// second of the wall clock.
    private static func seconds(_ lifetime: Duration) -> UInt32 { UInt32(clamping: lifetime.components.seconds &+ 2) }

    /// Returns the error for a kernel error. Only some mean that no keyring is available. All others are reported,
    /// because a keyring that cannot be searched may contain keys.
    func failure(_ result: Int32) -> VaultError {
        let cause = FileError(errno: -result, operation: "use", path: place.description)
        guard [ENOSYS, EPERM, EACCES].contains(-result) else {
            return VaultError(
                .file, "use", place.description, cause.reason, advice: cause.advice, underlying: cause)
        }
        return .noUnlockCache(place, cause.sentence)
    }
}

/// The keyring that a login or a service gives to its processes, session-keyring(7).
package enum SessionKeyring {
    /// Joins a new session keyring, as a new login or service has, so that this process can act as one.
    ///
    /// - Throws: `FileError` `.permissionDenied` or `.unsupported` if keyrings are not available.
    package static func joinFresh() throws(FileError) {
        let result = clinux_join_session_keyring()
        if result < 0 { throw FileError(errno: -result, operation: "join", path: "a session keyring") }
    }
}

/// Tickets as files of mode 0600 in `sealed-groups` below the user's runtime directory, for systems without access to
/// the kernel's keyring, mostly containers.
///
/// Only in a file system in memory: an unlocked key on a disk would survive switching the machine off. Swap can still
/// write such a file to a disk. The kernel's keyring cannot be swapped, so it is tried first.
struct RuntimeFileCache: UnlockCache {
    private static let directoryName = "sealed-groups"

    /// The runtime directory; `nil` if there is no such directory.
    let base: FilePath?

    init(base: FilePath?) { self.base = base }

    /// Creates the cache in a runtime directory, given by its path.
    init(below path: String) { self.init(base: FilePath(path)) }

    var place: UnlockPlace { .runtimeFile }

    var isUsable: Bool {
        do throws(VaultError) {
            let base = try openBase()
            return MemoryFileSystem.holds(base)
        } catch {
            return false
        }
    }

    func store(
        _ ticket: UnsafeRawBufferPointer, as name: UnlockName, for lifetime: Duration?
    ) throws(VaultError) {
        // Checked first, so that nothing is created if nothing can be stored.
        let base = try openBase()
        guard MemoryFileSystem.holds(base) else { throw notInMemory(base.path) }
        try VaultError.onFiles(Self.keeping) { () throws(FileError) in
            let directory = try base.makeDirectory(Self.directoryName, mode: 0o700)
            try check(directory)
            try directory.replaceRacing(name.text, with: ticket, mode: 0o600)
        }
    }

    func read(_ name: UnlockName, into buffer: UnsafeMutableRawBufferPointer) throws(VaultError) -> Int? {
        guard let directory = try openDirectory() else { return nil }
        do throws(FileError) {
            let file = try directory.openForReading(name.text)
            let facts = try file.attributes()
            try Self.check(facts, path: directory.display(name.text))
            // An empty file was wiped; a larger one is no ticket.
            guard facts.size > 0, facts.size <= buffer.count else { return nil }
            return try file.pread(into: buffer, at: 0)
        } catch {
            if error.code == .notFound { return nil }
            throw VaultError(error, "read the unlocked keys")
        }
    }

    func remove(_ name: UnlockName) throws(VaultError) {
        guard let directory = try openDirectory() else { return }
        do throws(FileError) {
            // An unfinished file of a killed program contains the same keys.
            directory.removeStaleFiles(of: try LeafName(name.text))
            try directory.remove(name.text, durability: .unsynced)
        } catch {
            if error.code != .notFound { throw VaultError(error, "remove the unlocked keys") }
        }
    }

    /// Truncates exactly the file that was found to be expired: a newer one that has taken its name meanwhile is not
    /// touched.
    func wipeExpired(_ name: UnlockName) {
        guard let directory = try? openDirectory() else { return }
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let opened = openat(directory.descriptor.rawValue, name.text, flags)
        guard opened >= 0 else { return }
        let file = Descriptor(owning: opened, path: directory.display(name.text))
        guard let facts = try? file.attributes(), facts.kind == .regular, facts.uid == geteuid() else { return }
        let isOver = withUnsafeTemporaryAllocation(byteCount: UnlockTicket.factsSize, alignment: 8) { buffer in
            let count = (try? file.pread(into: buffer, at: 0)) ?? 0
            return UnlockTicket.isOver(
                UnsafeRawBufferPointer(rebasing: buffer[..<count]), now: BootClock.milliseconds())
        }
        if isOver { ftruncate(opened, 0) }
    }
}

extension RuntimeFileCache {
    private static let keeping = "keep the vault unlocked"

    /// The cache in `$XDG_RUNTIME_DIR`, or in the directory that systemd gives to logins, which a service of the same
    /// user does not find in its environment. A set-user-ID program ignores its caller's environment.
    static let ofThisUser: RuntimeFileCache = {
        if let value = clinux_secure_getenv("XDG_RUNTIME_DIR"), let text = String(validatingCString: value) {
            let path = FilePath(text)
            if path.isAbsolute { return RuntimeFileCache(base: path) }
        }
        return RuntimeFileCache(base: FilePath("/run/user/\(geteuid())"))
    }()

    /// Opens the runtime directory, which has to be the user's own (XDG base directory specification: owner, mode
    /// 0700).
    private func openBase() throws(VaultError) -> Directory {
        guard let base else { throw .noUnlockCache(place, "There is no runtime directory.") }
        do throws(FileError) {
            let directory = try Directory.open(base)
            let facts = try directory.attributes(".")
            guard facts.uid == geteuid(), facts.mode & 0o077 == 0 else {
                throw FileError(.unsafeMode, operation: "trust", path: base.string)
            }
            return directory
        } catch {
            throw .noUnlockCache(place, error.sentence)
        }
    }

    /// Opens and checks the directory of tickets; returns `nil` if it does not exist.
    private func openDirectory() throws(VaultError) -> Directory? {
        guard let base else { throw .noUnlockCache(place, "There is no runtime directory.") }
        do throws(FileError) {
            let directory = try Directory.open(base.appending(Self.directoryName))
            try check(directory)
            if MemoryFileSystem.holds(directory) { return directory }
        } catch {
            // Another user's runtime directory, as after `sudo -E`, is no fault of this cache.
            _ = try openBase()
            if error.code == .notFound { return nil }
            throw VaultError(error, Self.keeping)
        }
        throw notInMemory(base)
    }

    private func check(_ directory: Directory) throws(FileError) {
        try Self.check(try directory.attributes("."), path: directory.display("."))
    }

    /// Refuses a file of another owner or with rights for others: a user with write access could have forged it, and
    /// one with read access has the keys.
    private static func check(_ facts: FileAttributes, path: String) throws(FileError) {
        guard facts.uid == geteuid() else {
            throw FileError(
                .wrongOwner, operation: "trust", path: path,
                advice: "Set XDG_RUNTIME_DIR to a directory that belongs to this user.")
        }
        guard facts.mode & 0o077 == 0 else {
            throw FileError(
                .unsafeMode, operation: "trust", path: path,
                advice: "Remove it, and lock the vault: other users may have read its keys: rm -r \(path.shellQuoted)")
        }
    }

    private func notInMemory(_ base: FilePath) -> VaultError {
        .noUnlockCache(place, "\(base) is not in memory (tmpfs or ramfs).")
    }
}

/// The file systems in memory, which a power-off erases.
package enum MemoryFileSystem {
    /// `TMPFS_MAGIC` and `RAMFS_MAGIC` of statfs(2).
    private static let magics: Set<Int64> = [0x0102_1994, 0x8584_58F6]

    /// Returns whether a directory is in one; `false` if unknown.
    package static func holds(_ directory: Directory) -> Bool {
        magics.contains(clinux_file_system_type(directory.descriptor.rawValue))
    }
}
