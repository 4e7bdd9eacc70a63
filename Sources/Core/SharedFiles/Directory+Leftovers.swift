internal import Glibc

extension Directory {
    /// Removes what crashed writers of a leaf left under pending and random names; a live writer's file stays.
    ///
    /// For whoever holds the lock of that leaf: the pending name is not looked at. Never fails: a writer's own random name
    /// does not depend on it, and what can't be removed hinders nobody.
    package func removeLitter(of leaf: LeafName) {
        guard let entries = try? entries() else { return }
        for entry in entries where entry.name == leaf.pendingName || isLitter(entry.name, of: leaf) {
            unlinkat(descriptor.rawValue, entry.name, 0)
        }
    }

    /// What cannot be opened is nobody's to judge, and stays.
    private func isLitter(_ name: String, of leaf: LeafName) -> Bool {
        guard leaf.isRandomName(name) else { return false }
        let opened = openBeneath(descriptor.rawValue, name, contentFlags)
        if opened < 0 { return false }
        defer { close(opened) }
        return ByteRangeLock.attempt(opened, .whole, .shared) != -EAGAIN
    }

    /// Removes one temporary file, durably, and no other: where it is still the one that was seen.
    ///
    /// - Parameter seen: What it was when it was found.
    /// - Throws: `overtaken` where the name stands for another file by now, or it was written to; `lockTimeout` where a
    ///   writer holds it; `notRegularFile`, `unsafePath`, `permissionDenied` for what cannot be looked at; `notFound` where
    ///   it is gone; what removing it gave.
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
