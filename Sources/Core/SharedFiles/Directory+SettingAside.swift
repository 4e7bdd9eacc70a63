internal import CLinux
internal import Glibc

/// Removal of a file that exists in another form by now: only the exact file that was read is removed.
extension Directory {
    /// Makes a file durable, even if another process wrote it: its content first, then its name.
    ///
    /// A sync through a new descriptor reports earlier failures, unless another descriptor has already reported them.
    /// - Throws: `durabilityUnknown` if a sync fails; an error of opening the file.
    package func makeDurable(_ relative: String) throws(FileError) {
        let file = try openForReading(relative)
        if fsync(file.rawValue) < 0 {
            throw FileError(.durabilityUnknown, operation: "sync", path: display(relative), errno: errno)
        }
        let (parent, leaf) = try parent(of: relative, "sync")
        try parent.sync(after: "sync", leaf)
    }

    /// Removes a file, durably, if its name still refers to the file that was read, and the file is unchanged since.
    ///
    /// The removal is refused while another process has the file open for writing, if the file system can detect that.
    /// Then the file is renamed, examined once more and removed: a program that replaces it by renaming loses nothing.
    /// If the file system cannot rename without replacing, or the name is too long for that, the file is removed in
    /// place, and a file that replaces it between the check and the removal is removed with it. A crash in between
    /// leaves the file under its `SetAsideName`, for `restoreAside`.
    /// - Parameter known: The file's moment before reading began.
    /// - Throws: `overtaken` if it is another file, or was written to, linked or brought back; it then has its name
    ///   again, unless that was taken meanwhile (`alreadyExists`). `notFound` if another process has removed it.
    ///   `durabilityUnknown` if it is removed and may reappear after a power loss.
    package func remove(_ relative: String, ifStill known: FileMoment) throws(FileError) {
        let (parent, leaf) = try parent(of: relative, Self.removing)
        let aside = SetAsideName(of: leaf, inode: known.attributes.inode)
        do throws(FileError) { try parent.remove(leaf, aside?.text, known) } catch {
            // The file still exists if another process has restored its name, or has not yet completed its own removal.
            guard error.code == .notFound,
                parent.isInPlace(leaf, for: known) || aside.map({ parent.isInPlace($0.text, for: known) }) == true
            else { throw error }
            throw parent.overtaken(leaf)
        }
        try parent.sync(after: Self.removing, leaf)
    }

    private static let removing = "remove"

    private func remove(_ leaf: String, _ aside: String?, _ known: FileMoment) throws(FileError) {
        let file = try openForReading(leaf)
        let lease = try ReadLease(file, Self.removing)
        guard try file.moment().isUntouched(since: known) else { throw overtaken(leaf) }
        var isAside = false
        if let aside { isAside = try renameNew(leaf, aside, Self.removing) }
        let found = isAside ? aside ?? leaf : leaf
        guard try moment(ofLeaf: found).isUnwritten(since: known), lease.isUnbroken else {
            if isAside { _ = try renameNew(found, leaf, "restore the name of") }
            throw overtaken(leaf)
        }
        let removed = uninterrupted { unlinkat(descriptor.rawValue, found, 0) }
        if removed < 0 {
            if isAside { _ = try? renameNew(found, leaf, "restore the name of") }
            throw error(-removed, Self.removing, leaf)
        }
    }

    private func isInPlace(_ leaf: String, for known: FileMoment) -> Bool {
        (try? moment(ofLeaf: leaf).attributes.isSameFile(as: known.attributes)) ?? false
    }

    private func overtaken(_ leaf: String) -> FileError {
        FileError(
            .overtaken, operation: Self.removing, path: display(leaf),
            advice: "Another program wrote or moved it in the meantime; end that program and try again.")
    }

    /// Returns the paths of files that an unfinished `remove` of this name has renamed; relative like the name.
    package func asides(of relative: String) throws(FileError) -> [String] {
        let (parent, leaf) = try parent(of: relative, "restore")
        let above = RelativePath.split(relative).0.map { $0 + "/" } ?? ""
        let names: [DirectoryEntry]
        do throws(FileError) { names = try parent.entries() } catch {
            // The directory may be used but not listed.
            guard error.code == .permissionDenied else { throw error }
            return []
        }
        return names.filter { entry in
            entry.name.hasPrefix(".\(leaf).")
                && (try? parent.attributes(ofName: entry.nameBytes)).flatMap { SetAsideName(entry.name, of: $0) }?.leaf
                    == leaf
        }.map { above + $0.name }
    }

    /// Restores the name of a file that an unfinished `remove` has renamed. A file that no longer exists is not an
    /// error.
    ///
    /// - Parameter aside: One of `asides(of:)`.
    /// - Throws: `alreadyExists` if the name was taken meanwhile; both files then stay unchanged.
    package func restoreAside(_ relative: String, from aside: String) throws(FileError) {
        let (parent, leaf) = try parent(of: relative, "restore")
        do throws(FileError) {
            guard try parent.renameNew(RelativePath.split(aside).1, leaf, "restore") else {
                throw error(EEXIST, "restore", relative)
            }
        } catch {
            guard error.code == .notFound else { throw error }
        }
    }

    /// Renames an entry of this directory to a name that is free.
    ///
    /// - Returns: `false` if the file system cannot rename without replacing.
    /// - Throws: `alreadyExists` if the name is taken.
    package func renameNew(_ from: String, _ to: String, _ operation: String) throws(FileError) -> Bool {
        let result = uninterrupted { clinux_rename_new(descriptor.rawValue, from, to) }
        if result == -EINVAL || result == -ENOSYS { return false }
        if result < 0 { throw error(-result, operation, result == -EEXIST ? to : from) }
        return true
    }
}

/// The temporary name of a file during its removal: `.NAME.INODE.moving`.
///
/// The inode distinguishes it from a program's own file of such a name: only the file with that number was renamed so.
package struct SetAsideName: Sendable, Hashable {
    /// The file's own name.
    package let leaf: String
    /// The file's number.
    package let inode: UInt64

    /// The name in the directory.
    package var text: String { ".\(leaf).\(inode)\(Self.suffix)" }

    /// Creates the name of a file that is to be renamed; nil if the name would be too long.
    init?(of leaf: String, inode: UInt64) {
        self.leaf = leaf
        self.inode = inode
        if text.utf8.count > LeafName.maximumLength { return nil }
    }

    /// Creates the name of a file that has such a name; nil for any other file.
    package init?(_ text: String, of facts: FileAttributes) {
        guard facts.kind == .regular, text.hasPrefix("."), text.hasSuffix(".\(facts.inode)\(Self.suffix)") else {
            return nil
        }
        let leaf = text.dropFirst().dropLast(".\(facts.inode)\(Self.suffix)".count)
        guard !leaf.isEmpty, text.count > leaf.count + 1 else { return nil }
        self.leaf = String(leaf)
        inode = facts.inode
    }

    private static let suffix = ".moving"
}

/// A read lease of fcntl(2). The kernel refuses it while the file is open for writing. While it is held, an open for
/// writing waits, or fails with `EWOULDBLOCK`.
///
/// Not every file system has leases, and only the file's owner gets one; otherwise nothing is known. The lease ends
/// with its descriptor or when it is released.
struct ReadLease: ~Copyable {
    private let descriptor: Int32
    private let isHeld: Bool

    /// - Parameter descriptor: Open for reading only, for longer than this value exists.
    /// - Throws: `overtaken` while the file is open for writing.
    init(_ descriptor: borrowing Descriptor, _ operation: String) throws(FileError) {
        self.descriptor = descriptor.rawValue
        // A writer that waits for the lease makes the kernel signal this process: with SIGIO, which terminates it,
        // unless another signal is set. SIGURG is ignored by default.
        guard fcntl(self.descriptor, Self.setSignal, SIGURG) == 0 else {
            isHeld = false
            return
        }
        isHeld = fcntl(self.descriptor, Self.setLease, Int32(F_RDLCK)) == 0
        guard !isHeld, errno == EAGAIN else { return }
        throw FileError(
            .overtaken, operation: operation, path: descriptor.path,
            advice: "Another program has it open for writing; end that program and try again.")
    }

    /// `true` if no process has opened the file for writing since; true without a lease.
    var isUnbroken: Bool { !isHeld || fcntl(descriptor, Self.getLease) == Int32(F_RDLCK) }

    deinit {
        if isHeld { _ = fcntl(descriptor, Self.setLease, Int32(F_UNLCK)) }
    }

    // fcntl.h defines them only for GNU programs.
    private static let setSignal: Int32 = 10
    private static let setLease: Int32 = 1024
    private static let getLease: Int32 = 1025
}

extension Descriptor {
    /// Rejects a file that is open for writing, if that can be detected.
    ///
    /// - Throws: `overtaken`.
    package func requireNoWriter() throws(FileError) { _ = try ReadLease(self, "take over") }
}
