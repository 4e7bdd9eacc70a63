/// A lock that is held until this value ends, or until `unlock`.
package struct HeldLock: ~Copyable, Sendable {
    /// The range it covers.
    package let range: LockRange
    private let file: Descriptor
    private let directory: Directory
    private let name: String

    init(_ file: consuming Descriptor, _ range: LockRange, _ directory: Directory, _ name: String) {
        self.file = file
        self.range = range
        self.directory = directory
        self.name = name
    }

    /// Whether the lock file still has its name. Asked just before a rename: where it is false another process may
    /// hold "the same" lock on a new file, and the write must be given up (`lockFileReplaced`).
    package func isStillNamed() -> Bool {
        LockFile.isNamed(file, name, in: directory)
    }

    /// Gives the lock back now.
    package consuming func unlock() {}

    deinit {
        // Before the close: a child that was forked meanwhile shares the description and would keep the lock alive.
        ByteRangeLock.release(file.rawValue, range)
    }
}
