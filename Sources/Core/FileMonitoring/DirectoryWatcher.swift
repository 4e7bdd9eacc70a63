internal import SharedFiles

/// What a system has to offer for `FileMonitor`: to watch single directories and to say which name in one has changed.
///
/// `add`, `remove` and `wake` may be called from any thread, `wait` from one alone.
protocol DirectoryWatcher: Sendable {
    /// Watches a directory: the last component is never followed if it is a link.
    ///
    /// Two paths of one directory get one number; what was asked for it before stays asked for. Numbers are not used
    /// again, so that an event that was read before its watch ended is never taken for one of another directory.
    /// - Parameter depth: what is told about the entries.
    /// - Returns: the watch's number, or -errno.
    func add(_ path: [UInt8], _ depth: WatchDepth) -> Int32

    /// Ends a watch. One that the system has already ended is no error.
    func remove(_ watch: Int32)

    /// What happened, in order; empty after `wake` or at the time limit. An event is told after what it tells of can be
    /// seen in the file system.
    func wait(_ limit: Duration?) -> [DirectoryEvent]

    /// Lets `wait` return at once, the next one if there is none now.
    func wake()

    /// What a negative answer of `add` means to whoever asked for a path.
    func refusal(_ number: Int32, _ path: String) -> FileError
}

/// What is told about the entries of a watched directory.
enum WatchDepth {
    /// Names that appear, vanish or stand for something else.
    case names
    /// The entries' content and permissions as well.
    case content
}

/// One thing that happened in, or to, a watched directory.
struct DirectoryEvent: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        /// A name appeared, vanished or stands for something else now; whether that is or was a directory.
        case name(isDirectory: Bool)
        /// An entry's content or permissions changed.
        case content
        /// The directory itself was moved or removed, its permissions changed, or its watch ended.
        case itself
        /// Something was mounted or unmounted somewhere; the watch's number means nothing.
        case mounts
        /// Events were lost; the watch's number means nothing.
        case overflow
    }

    let watch: Int32
    let kind: Kind
    /// The entry's name; empty for the directory itself.
    let name: [UInt8]
}
