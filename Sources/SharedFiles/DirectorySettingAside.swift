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

    /// The name that a file has between losing its own and being removed.
    package static func asideName(of relative: String) -> String {
        let (parent, leaf) = RelativePath.split(relative)
        return (parent.map { $0 + "/" } ?? "") + asidePrefix + leaf + asideSuffix
    }

    /// The name that a file had before it was set aside; nil for a name that is none of those.
    package static func nameBeforeAside(_ relative: String) -> String? {
        let (parent, leaf) = RelativePath.split(relative)
        let affixes = asidePrefix.utf8.count + asideSuffix.utf8.count
        guard leaf.hasPrefix(asidePrefix), leaf.hasSuffix(asideSuffix), leaf.utf8.count > affixes else { return nil }
        return (parent.map { $0 + "/" } ?? "")
            + leaf.dropFirst(asidePrefix.count).dropLast(asideSuffix.count)
    }

    private static let asidePrefix = "."
    private static let asideSuffix = ".moving"

    /// Removes a file, durably, if its name still stands for the file that was read, and that was not written since.
    ///
    /// The file is set aside first, looked at and then removed: a program that replaces it by renaming loses nothing at any
    /// moment. One that writes into the open file after that look does. A crash in between leaves it under
    /// `asideName(of:)`, for `bringBack`.
    /// - Parameter facts: What was read, as it was before reading began.
    /// - Throws: `overtaken` where it is another file or was written to, and then it has its name again, unless that was
    ///   taken meanwhile (`alreadyExists`); `notFound` where somebody else has taken it away; `durabilityUnknown` where it is
    ///   gone and may come back after a power loss.
    package func remove(_ relative: String, ifStill facts: FileAttributes) throws(FileError) {
        let operation = "remove"
        let (parent, leaf) = try parent(of: relative, operation)
        let aside = Self.asideName(of: leaf)
        let isAside = try parent.renameNew(leaf, aside, operation)
        let found = isAside ? aside : leaf
        guard try parent.attributes(ofLeaf: found).isUnchanged(since: facts) else {
            if isAside { _ = try parent.renameNew(aside, leaf, "give the name back to") }
            throw FileError(
                .overtaken, operation: operation, path: display(relative),
                advice: "Another program wrote it meanwhile; end that program and try again.")
        }
        let removed = uninterrupted { unlinkat(parent.descriptor.rawValue, found, 0) }
        if removed < 0 {
            if isAside { _ = try? parent.renameNew(aside, leaf, "give the name back to") }
            throw error(-removed, operation, relative)
        }
        try parent.sync(after: operation, leaf)
    }

    /// Gives a file its name back that was set aside by a `remove` which did not end.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `alreadyExists` where the name was taken meanwhile; both files are then left as they are.
    @discardableResult
    package func bringBack(_ relative: String) throws(FileError) -> Bool {
        let (parent, leaf) = try parent(of: relative, "bring back")
        let aside = Self.asideName(of: leaf)
        do throws(FileError) {
            guard try parent.attributes(ofLeaf: aside).kind == .regular else { return false }
            guard try parent.renameNew(aside, leaf, "bring back") else {
                throw error(EEXIST, "bring back", relative)
            }
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
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

extension FileAttributes {
    /// Whether both are of one file, with the same size and time of its last change.
    package func isUnchanged(since earlier: FileAttributes) -> Bool {
        isSameFile(as: earlier) && size == earlier.size && modifiedNanoseconds == earlier.modifiedNanoseconds
    }
}
