internal import AppGroups
internal import FileMonitoring
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// The records whose changes are observed together.
enum ObservedPart: Sendable {
    /// The records of users.
    case records
    /// The manifests of sealed files, under the files' names.
    case files

    /// The directory of their files.
    var root: String { self == .files ? ContainerLayout.files : ContainerLayout.records }
    /// The beginning of their records' names.
    var prefix: String { self == .files ? SealedFileName.namePrefix : "" }
    var maximumDepth: Int { self == .files ? SealedFileName.maximumDepth : RecordName.maximumDepth }

    /// Returns whether an entry of the root is a directory of other files.
    func omits(_ name: String) -> Bool {
        name == (self == .files ? ContainerLayout.contentsName : RecordName.reservedSegment)
    }

    func includes(_ record: String) -> Bool {
        self == .files ? record.hasPrefix(prefix) : !record.hasPrefix("\(RecordName.reservedSegment)/")
    }
}

/// The directories that hold a group's records, each of them watched, and their contents at the last look.
///
/// Only a directory with a notification is listed again, and only a file that has changed is reported: with ten
/// thousand records a write costs one listing of its directory, and one opening.
struct RecordTree: Sendable {
    private struct Watched: Sendable {
        let registration: MonitorRegistration
        /// The files by the record's name; nil for a file that could not be examined.
        var files: [String: FileStamp?] = [:]
    }

    private let part: ObservedPart
    private var root: String { part.root }
    private let pending: PendingChanges
    /// The directories by their path below the container.
    private var directories: [String: Watched] = [:]
    /// The directories whose last listing failed.
    private(set) var unlisted: Set<String> = []

    init(_ pending: PendingChanges, of part: ObservedPart = .records) {
        self.pending = pending
        self.part = part
    }

    /// Lists all directories again, in a container that may be another one.
    ///
    /// - Parameter isElsewhere: Pass `true` if its path is another one.
    /// - Returns: The present and the former records.
    /// - Throws: The first error; the directories that could be listed are watched nevertheless.
    mutating func begin(in container: GroupContainer, isElsewhere: Bool) throws(StoreError) -> Set<String> {
        let former = Set(directories.values.flatMap(\.files.keys))
        if isElsewhere { directories = [:] }
        for path in directories.keys { directories[path]?.files = [:] }
        unlisted = []
        return former.union(try look(at: [root], in: container, isWhole: true))
    }

    /// Returns the records that may have changed in the notified paths.
    mutating func news(in marked: Set<String>, of container: GroupContainer) throws(StoreError) -> Set<String> {
        let prefix = container.path + "/"
        let paths = marked.compactMap { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
        return try look(at: Set(paths).union(unlisted), in: container, isWhole: false)
    }

    private mutating func look(
        at paths: Set<String>, in container: GroupContainer, isWhole: Bool
    ) throws(StoreError) -> Set<String> {
        var news: Set<String> = []
        var failure: StoreError?
        var waiting = paths.sorted()
        while let path = waiting.popLast() {
            do throws(StoreError) {
                // A path that was forgotten meanwhile is no directory of records any more.
                guard path == root || directories[path] != nil || unlisted.contains(path) else { continue }
                let listing = try list(path, in: container)
                news.formUnion(take(listing, of: path))
                waiting += listing.directories.filter { isWhole || directories[$0] == nil }
                for child in listing.directories where directories[child] == nil { unlisted.insert(child) }
                unlisted.remove(path)
            } catch {
                unlisted.insert(path)
                failure = failure ?? error
            }
        }
        if let failure, isWhole { throw failure }
        return news
    }
}

// A single directory.
extension RecordTree {
    private struct Listing {
        var files: [String: FileStamp?] = [:]
        var directories: Set<String> = []
    }

    /// Lists a directory. It is watched before: changes after the listing are notified.
    private mutating func list(_ path: String, in container: GroupContainer) throws(StoreError) -> Listing {
        if directories[path] == nil {
            directories[path] = Watched(registration: try register("\(container.path)/\(path)"))
        }
        do throws(FileError) { return try listing(path, in: container.root) } catch {
            guard error.code == .notFound else { throw StoreError(error, "list", container.group.identifier) }
            return Listing()
        }
    }

    private func register(_ path: String) throws(StoreError) -> MonitorRegistration {
        try StoreError.onWatching(path) { () throws(FileError) in
            try FileMonitor.shared.watch(path) { [pending] _ in pending.mark { $0.paths.insert(path) } }
        }
    }

    private func listing(_ path: String, in container: Directory) throws(FileError) -> Listing {
        let directory = try container.directory(path)
        let above = part.prefix + (path == root ? "" : path.dropFirst(root.count + 1) + "/")
        let depth = path.dropFirst(root.count).utf8.count { $0 == UInt8(ascii: "/") }
        let mayDescend = depth < part.maximumDepth - 1
        var listing = Listing()
        for entry in try directory.entries() {
            if entry.name.hasSuffix(ContainerLayout.recordSuffix) {
                let name = above + entry.name.dropLast(ContainerLayout.recordSuffix.count)
                listing.files[name] = .some(FileStamp(entry, in: directory))
            } else if entry.kind == .directory, mayDescend, !(path == root && part.omits(entry.name)) {
                listing.directories.insert("\(path)/\(entry.name)")
            }
        }
        return listing
    }

    /// Stores a listing; returns the records that differ from the one before.
    private mutating func take(_ listing: Listing, of path: String) -> Set<String> {
        let former = directories[path]?.files ?? [:]
        directories[path]?.files = listing.files
        var news = Set(former.keys).subtracting(listing.files.keys)
        for (name, stamp) in listing.files where stamp == nil || former[name] != .some(stamp) { news.insert(name) }
        for gone in children(of: path).subtracting(listing.directories) { news.formUnion(forget(gone)) }
        return news
    }

    private func children(of path: String) -> Set<String> {
        Set(directories.keys.filter { $0.hasPrefix(path + "/") && !$0.dropFirst(path.count + 1).contains("/") })
    }

    /// Ends the watches of a missing directory, and of those below it; returns the records that were in it.
    private mutating func forget(_ path: String) -> Set<String> {
        var names: Set<String> = []
        for gone in directories.keys.filter({ $0 == path || $0.hasPrefix(path + "/") }) {
            names.formUnion(directories.removeValue(forKey: gone)?.files.keys.map { $0 } ?? [])
            unlisted.remove(gone)
        }
        return names
    }
}

/// The notifications for one observer since it last took them: between the monitor's thread and the iterating task.
final class PendingChanges: Sendable {
    /// The things that may have changed.
    struct Marks {
        /// The paths as they are watched.
        var paths: Set<String> = []
        /// The records that were reported by name.
        var names: Set<String> = []
        /// Every record may have changed.
        var isResync = false
        /// The container may be another one.
        var container = false
        /// Keys may have been added or removed.
        var vault = false
        /// An alarm has rung or the clock was set.
        var clock = false
    }

    let signal = ChangeSignal()
    private let marks = Mutex(Marks())
    private let notify: @Sendable () -> Void

    /// - Parameter notify: Called after each mark, on the monitor's thread.
    init(_ notify: @escaping @Sendable () -> Void = {}) { self.notify = notify }

    /// Marks first and then raises the signal: a woken task finds the mark.
    func mark(_ change: (inout Marks) -> Void) {
        marks.withLock { change(&$0) }
        signal.raise()
        notify()
    }

    func take() -> Marks {
        marks.withLock { marks in
            defer { marks = Marks() }
            return marks
        }
    }
}

/// The identity of a name's state in a directory, read without opening it.
///
/// Only the system sets the time of an inode's last change: writing into a file in place and resetting its times
/// changes it as well.
struct FileStamp: Hashable, Sendable {
    private let device: dev_t
    private let inode: ino_t
    private let changedSeconds: Int
    private let changedNanoseconds: Int

    /// Reads the name's present state, without following links; nil if it does not exist or cannot be examined: then it
    /// counts as changed.
    init?(_ name: DirectoryEntry, in directory: Directory) {
        var status = stat()
        let result = (name.nameBytes + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { path in
                path.baseAddress.map { fstatat(directory.descriptor.rawValue, $0, &status, AT_SYMLINK_NOFOLLOW) } ?? -1
            }
        }
        guard result == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
        changedSeconds = status.st_ctim.tv_sec
        changedNanoseconds = status.st_ctim.tv_nsec
    }
}
