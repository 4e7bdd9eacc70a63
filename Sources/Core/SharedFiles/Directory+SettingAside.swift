internal import CLinux
internal import Glibc

/// Taking a file away that exists in another form by now: never another file than the one that was read.
extension Directory {
    /// Makes a file durable, whoever wrote it: its content first, then its name.
    ///
    /// A sync through a descriptor of our own reports what failed since, unless somebody else was told of it already.
    /// - Throws: `durabilityUnknown` for either; what opening it gave.
    package func makeDurable(_ relative: String) throws(FileError) {
        let file = try openForReading(relative)
        if fsync(file.rawValue) < 0 {
            throw FileError(.durabilityUnknown, operation: "sync", path: display(relative), errno: errno)
        }
        let (parent, leaf) = try parent(of: relative, "sync")
        try parent.sync(after: "sync", leaf)
    }

    /// Removes a file, durably, if its name still stands for the file that was read, and nothing was done to that since.
    ///
    /// It is refused while somebody has it open for writing, where the file system can tell. Then it is set aside, looked at
    /// once more and removed: a program that replaces it by renaming loses nothing. Where the file system cannot rename
    /// without replacing, or the name is too long for that, it is removed in its place, and what replaces it between the
    /// look and the removal is removed with it. A crash in between leaves it under its `AsideName`, for `bringBack`.
    /// - Parameter known: What was read, as it was before reading began.
    /// - Throws: `overtaken` where it is another file, or was written to, linked or brought back, and then it has its name
    ///   again, unless that was taken meanwhile (`alreadyExists`); `notFound` where somebody else has taken it away;
    ///   `durabilityUnknown` where it is gone and may come back after a power loss.
    package func remove(_ relative: String, ifStill known: FileMoment) throws(FileError) {
        let (parent, leaf) = try parent(of: relative, Self.removing)
        let aside = AsideName(of: leaf, inode: known.attributes.inode)
        do throws(FileError) { try parent.remove(leaf, aside?.text, known) } catch {
            // Not gone if somebody has given it its name back, or is about to remove it but has not done so yet.
            guard error.code == .notFound,
                parent.stands(leaf, for: known) || aside.map({ parent.stands($0.text, for: known) }) == true
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
            if isAside { _ = try renameNew(found, leaf, "give the name back to") }
            throw overtaken(leaf)
        }
        let removed = uninterrupted { unlinkat(descriptor.rawValue, found, 0) }
        if removed < 0 {
            if isAside { _ = try? renameNew(found, leaf, "give the name back to") }
            throw error(-removed, Self.removing, leaf)
        }
    }

    private func stands(_ leaf: String, for known: FileMoment) -> Bool {
        (try? moment(ofLeaf: leaf).attributes.isSameFile(as: known.attributes)) ?? false
    }

    private func overtaken(_ leaf: String) -> FileError {
        FileError(
            .overtaken, operation: Self.removing, path: display(leaf),
            advice: "Another program wrote or moved it meanwhile; end that program and try again.")
    }

    /// Where files lie that a `remove` of this name has set aside and did not end with; relative as the name is.
    package func asides(of relative: String) throws(FileError) -> [String] {
        let (parent, leaf) = try parent(of: relative, "bring back")
        let above = RelativePath.split(relative).0.map { $0 + "/" } ?? ""
        let names: [DirectoryEntry]
        do throws(FileError) { names = try parent.entries() } catch {
            // A directory that may be used and not listed.
            guard error.code == .permissionDenied else { throw error }
            return []
        }
        return names.filter { entry in
            entry.name.hasPrefix(".\(leaf).")
                && (try? parent.attributes(ofName: entry.nameBytes)).flatMap { AsideName(entry.name, of: $0) }?.leaf
                    == leaf
        }.map { above + $0.name }
    }

    /// Gives a file its name back that was set aside by a `remove` which did not end. One that is gone is left at that.
    ///
    /// - Parameter aside: One of `asides(of:)`.
    /// - Throws: `alreadyExists` where the name was taken meanwhile; both files are then left as they are.
    package func bringBack(_ relative: String, from aside: String) throws(FileError) {
        let (parent, leaf) = try parent(of: relative, "bring back")
        do throws(FileError) {
            guard try parent.renameNew(RelativePath.split(aside).1, leaf, "bring back") else {
                throw error(EEXIST, "bring back", relative)
            }
        } catch {
            guard error.code == .notFound else { throw error }
        }
    }

    /// - Returns: False where the file system cannot rename without replacing.
    private func renameNew(_ from: String, _ to: String, _ operation: String) throws(FileError) -> Bool {
        let result = uninterrupted { clinux_rename_new(descriptor.rawValue, from, to) }
        if result == -EINVAL || result == -ENOSYS { return false }
        if result < 0 { throw error(-result, operation, result == -EEXIST ? to : from) }
        return true
    }
}

/// The name that a file has between losing its own and being removed: `.NAME.INODE.moving`.
///
/// The inode tells it from a program's own file of such a name: only the file with that number was set aside under it.
package struct AsideName: Sendable, Hashable {
    /// The file's own name.
    package let leaf: String
    /// The file's number.
    package let inode: UInt64

    /// As it stands in the directory.
    package var text: String { ".\(leaf).\(inode)\(Self.suffix)" }

    /// Of a file that is to be set aside; nil where the name would be too long.
    init?(of leaf: String, inode: UInt64) {
        self.leaf = leaf
        self.inode = inode
        if text.utf8.count > LeafName.maximumLength { return nil }
    }

    /// Of a file that has such a name; nil for any other file.
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

/// A read lease of fcntl(2): refused while anybody has the file open for writing; and while it is held, whoever opens it for
/// writing waits, or gets `EWOULDBLOCK`.
///
/// Not every file system has leases, and only the file's owner gets one: then nothing is known. It ends with its descriptor,
/// or when it is released.
struct ReadLease: ~Copyable {
    private let descriptor: Int32
    private let isHeld: Bool

    /// - Parameter descriptor: Open for reading only, and longer than this value lives.
    /// - Throws: `overtaken` while somebody has the file open for writing.
    init(_ descriptor: borrowing Descriptor, _ operation: String) throws(FileError) {
        self.descriptor = descriptor.rawValue
        // Whoever waits for the lease has this process signalled: with SIGIO, which ends it, unless another one is named.
        // SIGURG does nothing to a program that does not ask for it.
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

    /// Whether nobody has asked to write since; true where there is no lease.
    var isUnbroken: Bool { !isHeld || fcntl(descriptor, Self.getLease) == Int32(F_RDLCK) }

    deinit {
        if isHeld { _ = fcntl(descriptor, Self.setLease, Int32(F_UNLCK)) }
    }

    // fcntl.h has them for GNU programs only.
    private static let setSignal: Int32 = 10
    private static let setLease: Int32 = 1024
    private static let getLease: Int32 = 1025
}

extension Descriptor {
    /// Refuses a file that somebody has open for writing, where that can be told.
    ///
    /// - Throws: `overtaken`.
    package func requireNoWriter() throws(FileError) { _ = try ReadLease(self, "take over") }
}
