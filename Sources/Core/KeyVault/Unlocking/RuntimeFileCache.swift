internal import CLinux
internal import Glibc
package import SharedFiles
internal import SystemPackage

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
