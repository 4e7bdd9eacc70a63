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
