internal import Glibc
internal import SharedFiles

extension AccessLogFile {
    /// The older file's name while it is put in place.
    static let passingLeaf = ".access.log.1.new"

    /// Gives the file its older name and starts a new one, whose first entry carries the last code.
    ///
    /// There is a file under `access.log` at every moment: the old one first gets a second name, then the new one takes
    /// the first name over. A crash between leaves one file with both names, and the next one who appends starts again.
    /// Best effort: the caller looks at what has the name afterwards.
    func rollOver(
        _ tail: AccessLogTail, _ key: UnsafeRawBufferPointer, _ number: UInt32,
        _ space: UnsafeMutableRawBufferPointer, _ kept: inout OpenAccessLog?
    ) {
        let size = AccessEntryLayout.size
        _ = AccessDraft(event: .continued)
            .write(into: space, index: tail.nextIndex, followsTorn: tail.isTorn, key: key, number: number)
        let first = UnsafeRawBufferPointer(space.part(size, size))
        do throws(FileError) {
            // The new file's first entry must not outlive entries before it.
            try kept?.sync()
            try nameOlder()
            try directory.replace(Self.leaf, with: first, mode: mode, durability: .durable)
        } catch {
            return
        }
    }

    private func nameOlder() throws(FileError) {
        let at = directory.descriptor.rawValue
        unlinkat(at, Self.passingLeaf, 0)
        try directory.link(Self.leaf, as: Self.passingLeaf)
        let result = renameat(at, Self.passingLeaf, at, Self.olderLeaf)
        let number = errno
        // rename(2) does nothing where both are names of one file already.
        unlinkat(at, Self.passingLeaf, 0)
        if result < 0 { throw FileError(errno: number, operation: "roll over", path: directory.display(Self.leaf)) }
    }
}
