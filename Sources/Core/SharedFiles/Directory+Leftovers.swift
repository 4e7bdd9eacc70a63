internal import Glibc

extension Directory {
    /// Removes pending and random temporary files of crashed writers of a leaf; a live writer's file stays.
    ///
    /// The caller holds the lock of that leaf: the pending file's content is not checked. Never fails: a writer's
    /// random name does not depend on it, and a file that can't be removed does no harm.
    package func removeLitter(of leaf: LeafName) {
        guard let entries = try? entries() else { return }
        for entry in entries where entry.name == leaf.pendingName || isLitter(entry.name, of: leaf) {
            unlinkat(descriptor.rawValue, entry.name, 0)
        }
    }

    /// Returns `false` for a file that cannot be opened; it stays.
    private func isLitter(_ name: String, of leaf: LeafName) -> Bool {
        guard leaf.isRandomName(name) else { return false }
        let opened = openBeneath(descriptor.rawValue, name, contentFlags)
        if opened < 0 { return false }
        defer { close(opened) }
        return ByteRangeLock.attempt(opened, .whole, .shared) != -EAGAIN
    }

    /// Removes one temporary file, durably, only if it is still the one that was examined.
    ///
    /// - Parameter seen: The attributes when it was found.
    /// - Throws: `overtaken` if the name belongs to another file by now, or the file was written to; `lockTimeout` if a
    ///   writer holds it; `notRegularFile`, `unsafePath`, `permissionDenied` for a file that cannot be examined;
    ///   `notFound` if it no longer exists; an error of removing it.
    package func removeLitter(_ relative: String, ifStill seen: FileAttributes) throws(FileError) {
        let file = try openForReading(relative)
        let moment = try file.moment()
        let now = moment.attributes
        guard now.kind == .regular, now.isSameFile(as: seen), now.size == seen.size,
            now.modifiedNanoseconds == seen.modifiedNanoseconds
        else {
            throw FileError(
                .overtaken, operation: "remove", path: display(relative),
                advice: "A writer is at work there: nothing has to be done.")
        }
        guard ByteRangeLock.attempt(file.rawValue, .whole, .shared) != -EAGAIN else {
            throw FileError(
                .lockTimeout, operation: "remove", path: display(relative),
                advice: "A writer has it; try again when that has ended.")
        }
        ByteRangeLock.release(file.rawValue, .whole)
        try remove(relative, ifStill: moment)
    }
}
