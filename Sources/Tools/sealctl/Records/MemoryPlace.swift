internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SharedFiles
internal import SystemPackage

/// A directory of this process in memory, for plaintext that another program must see as a file.
///
/// The directory is on a tmpfs, never on a disk: its contents are lost when the machine loses power, though swap may
/// write them to a disk. Only the owner can open it. The process holds its lock as long as it uses the directory. If no
/// process holds the lock, the process was killed, and `MemoryLeftovers` wipes the directory.
final class MemoryPlace: Sendable {
    static let prefix = "sealctl-edit."
    static let keptPrefix = "sealctl-kept."
    static let lockName = ".lock"

    private let base: Directory
    private let name: String
    private let directory: Directory
    private let lock: HeldLock

    private init(base: Directory, name: String, directory: Directory, lock: consuming HeldLock) {
        self.base = base
        self.name = name
        self.directory = directory
        self.lock = lock
    }

    /// Creates a directory in the first suitable place.
    ///
    /// - Throws: `Failure` `noMemoryPlace`: plaintext is never written to a disk instead.
    static func make() throws(Failure) -> MemoryPlace {
        for base in bases {
            for _ in 0..<3 {
                if let place = try? make(in: base) { return place }
            }
        }
        throw Failure(
            .configuration, "noMemoryPlace",
            "no directory in memory is available for the edit: neither $XDG_RUNTIME_DIR nor /dev/shm",
            hint: "Set XDG_RUNTIME_DIR to a directory of your own on a tmpfs, mode 0700, or use sealctl get and put.")
    }

    /// The directories in memory that may contain such directories.
    static var bases: [Directory] {
        let runtime = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        return [(runtime, true), ("/dev/shm", false)].compactMap { path, isOwn in
            guard path.hasPrefix("/"), let directory = try? Directory.open(path), MemoryFileSystem.holds(directory),
                isSafe(directory, isOwn: isOwn)
            else { return nil }
            return directory
        }
    }

    /// Returns `true` if a base is safe: a runtime directory must belong to the user, and `/dev/shm` must be sticky, so
    /// that users remove only their own files.
    private static func isSafe(_ directory: Directory, isOwn: Bool) -> Bool {
        guard let facts = try? directory.attributes(".") else { return false }
        return isOwn ? facts.uid == geteuid() && facts.mode & 0o022 == 0 : facts.uid == 0 && facts.mode & S_ISVTX != 0
    }

    private static func make(in base: Directory) throws(FileError) -> MemoryPlace {
        let name = prefix + String(UInt64.random(in: 1 ... .max), radix: 16)
        if mkdirat(base.descriptor.rawValue, name, 0o700) < 0 {
            throw FileError(errno: errno, operation: "create the directory", path: base.display(name))
        }
        let directory = try base.directory(name)
        // A process that searches for leftovers may have removed the directory before the lock was taken. In that case
        // this throws.
        let lock = try LockFile(directory: directory, name: lockName).acquire(.whole, .exclusive, timeout: .zero)
        return MemoryPlace(base: base, name: name, directory: directory, lock: lock)
    }

    /// Returns the path of a file in the directory.
    func path(_ leaf: String) -> String { directory.display(leaf) }

    /// Creates a file with these bytes, or replaces its contents.
    func write(_ bytes: UnsafeRawBufferPointer, as leaf: String) throws(FileError) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC
        let opened = openat(directory.descriptor.rawValue, leaf, flags, mode_t(0o600))
        if opened < 0 { throw FileError(errno: errno, operation: "write", path: path(leaf)) }
        try Descriptor(owning: opened, path: path(leaf)).write(bytes)
    }

    /// Passes the present contents of the file to the body, at most `limit` bytes and one more.
    func withContents<Result>(
        of leaf: String, limit: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let input: InputFile
        do throws(FileError) { input = try InputFile(owning: directory.openForReading(leaf)) } catch {
            throw Failure(error)
        }
        return try input.withContents(limit: limit, body)
    }

    /// Overwrites and removes everything, including all files that the editor left beside the edited one.
    func wipe() { MemoryLeftovers.wipe(name, in: base) }

    /// Leaves the directory with this file alone to the person, under a name that is not taken for a leftover.
    ///
    /// - Returns: The directory's path.
    func keep(_ leaf: String) -> String {
        MemoryLeftovers.wipe(allBut: [leaf, Self.lockName], in: directory)
        let kept = Self.keptPrefix + name.dropFirst(Self.prefix.count)
        unlinkat(directory.descriptor.rawValue, Self.lockName, 0)
        let at = base.descriptor.rawValue
        return base.display(renameat(at, name, at, kept) == 0 ? kept : name)
    }
}
