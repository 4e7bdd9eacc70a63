internal import SharedFiles

/// A system facility for `FileMonitor` that watches single directories and reports which name in one has changed.
///
/// `add`, `remove` and `wake` may be called from any thread, `wait` from only one.
protocol DirectoryWatcher: Sendable {
    /// Watches a directory; a link as the last component is not followed.
    ///
    /// Two paths of one directory get one number, and earlier requests for it remain. Numbers are not reused, so that
    /// an event that was read before its watch ended is never attributed to another directory.
    /// - Parameter depth: the reported changes of the entries.
    /// - Returns: the watch's number, or -errno.
    func add(_ path: [UInt8], _ depth: WatchDepth) -> Int32

    /// Ends a watch. A watch that the system has already ended is not an error.
    func remove(_ watch: Int32)

    /// Returns the events in order; empty after `wake` or at the time limit. An event is returned only after its change
    /// is visible in the file system.
    func wait(_ limit: Duration?) -> [DirectoryEvent]

    /// Makes the current or else the next `wait` return immediately.
    func wake()

    /// Returns the error for a negative result of `add`.
    func refusal(_ number: Int32, _ path: String) -> FileError
}

/// The reported changes of a watched directory's entries.
enum WatchDepth {
    /// Names that appear, vanish or refer to other files.
    case names
    /// The entries' content and permissions as well.
    case content
}

/// A single event in, or of, a watched directory.
struct DirectoryEvent: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// A name appeared, vanished or refers to another file now, with whether that is or was a directory.
        case name(isDirectory: Bool)
        /// An entry's content or permissions changed.
        case content
        /// The directory itself was moved or removed, its permissions changed, or its watch ended.
        case itself
        /// A file system was mounted or unmounted; the watch's number is meaningless.
        case mounts
        /// Events were lost; the watch's number is meaningless.
        case overflow
    }

    let watch: Int32
    let kind: Kind
    /// The entry's name; empty for the directory itself.
    let name: [UInt8]
}
