internal import Glibc
internal import SharedFiles

/// Plaintext that a killed `sealctl edit` could not wipe.
enum MemoryLeftovers {
    /// A directory of this user that no process uses.
    struct Leftover: Sendable {
        let path: String
        fileprivate let name: String
        fileprivate let base: Directory

        /// Wipes and removes the directory, unless it is in use now.
        func remove() { MemoryLeftovers.removeUnused(name, in: base) }
    }

    /// Returns the present leftovers. The directory of an edit that was kept after a conflict is not a leftover.
    static func find() -> [Leftover] {
        MemoryPlace.bases.flatMap { base in
            ((try? base.entries()) ?? []).filter { $0.kind == .directory && $0.name.hasPrefix(MemoryPlace.prefix) }
                .filter { isUnused($0.name, in: base) }
                .map { Leftover(path: base.display($0.name), name: $0.name, base: base) }
        }
    }

    /// Removes all leftovers and returns their number.
    @discardableResult
    static func removeAll() -> Int {
        let found = find()
        for leftover in found { leftover.remove() }
        return found.count
    }

    private static func isUnused(_ name: String, in base: Directory) -> Bool {
        guard let directory = own(name, in: base) else { return false }
        return (try? acquire(in: directory)) != nil
    }

    private static func removeUnused(_ name: String, in base: Directory) {
        guard let directory = own(name, in: base),
            let lock = try? LockFile(directory: directory, name: MemoryPlace.lockName)
                .acquire(.whole, .exclusive, timeout: .zero)
        else { return }
        wipe(name, in: base)
        lock.unlock()
    }

    private static func acquire(in directory: Directory) throws(FileError) -> Bool {
        let lock = try LockFile(directory: directory, name: MemoryPlace.lockName)
            .acquire(.whole, .exclusive, timeout: .zero)
        lock.unlock()
        return true
    }

    /// Returns the directory if it belongs to this user, or `nil`.
    private static func own(_ name: String, in base: Directory) -> Directory? {
        guard let directory = try? base.directory(name), let facts = try? directory.attributes("."),
            facts.uid == geteuid(), facts.mode & 0o077 == 0
        else { return nil }
        return directory
    }

    /// Overwrites every file before it is removed, because the freed pages of a tmpfs keep their contents until they
    /// are used again.
    static func wipe(_ name: String, in base: Directory) {
        if let directory = try? base.directory(name) {
            directory.walk(maximumDepth: 16) { entry in
                if entry.kind == .regular { overwrite(entry.path, in: directory) }
            }
        }
        try? base.removeTree(name)
    }

    /// Wipes everything in a directory except some files.
    static func wipe(allBut kept: Set<String>, in directory: Directory) {
        directory.walk(maximumDepth: 16) { entry in
            if entry.kind == .regular, !kept.contains(entry.path) { overwrite(entry.path, in: directory) }
        }
        for entry in (try? directory.entries()) ?? [] where !kept.contains(entry.name) {
            try? directory.removeTree(entry.name)
        }
    }

    private static func overwrite(_ path: String, in directory: Directory) {
        guard let facts = try? directory.attributes(path), facts.kind == .regular else { return }
        let file = openat(directory.descriptor.rawValue, path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        var position: Int64 = 0
        while position < facts.size {
            let count = pwrite(file, zeros, Int(min(facts.size - position, Int64(zeros.count))), off_t(position))
            if count <= 0 { break }
            position += Int64(count)
        }
        ftruncate(file, 0)
    }
}
