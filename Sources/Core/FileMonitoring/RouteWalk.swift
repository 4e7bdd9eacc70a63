internal import Glibc
internal import SharedFiles

/// Finds the way to a path and watches every directory on it.
///
/// Links on the way are followed step by step, since each may be changed at any time. A link as the path's last
/// component is not followed: only its name counts.
///
/// No change is missed, since a directory is watched *before* a name is looked up in it. A change of a step after its
/// lookup therefore has an event that is still to be read, and the way is walked again. That also holds for paths: when
/// `/a/b` is looked up and `/a` was swapped since its step, `/` has an event for `a`.
struct RouteWalk {
    private let watcher: any DirectoryWatcher
    private let target: MonitorPath
    /// The current directory, free of links; empty for `/`.
    private var here: [UInt8] = []
    /// Remaining components, the next one last.
    private var pending: [[UInt8]]
    private var links = 0
    private var route = MonitorRoute()

    /// The kernel's limit, path_resolution(7).
    private static let maximumLinks = 40
    private static let slash = UInt8(ascii: "/")

    static func run(to target: MonitorPath, _ watcher: any DirectoryWatcher) -> MonitorRoute {
        var walk = RouteWalk(watcher: watcher, target: target)
        walk.run()
        return walk.route
    }

    private init(watcher: any DirectoryWatcher, target: MonitorPath) {
        self.watcher = watcher
        self.target = target
        pending = target.components.reversed()
    }

    private mutating func run() {
        while let name = pending.popLast() {
            if name == MonitorPath.parent {
                here.removeSubrange((here.lastIndex(of: Self.slash) ?? here.startIndex)...)
            } else if !step(name) {
                return
            }
        }
        if case .watched(let watch) = watchHere(.content) { route.end(inside: watch) }
    }

    /// Takes a step; returns whether the way continues.
    private mutating func step(_ name: [UInt8]) -> Bool {
        let isLast = pending.isEmpty
        guard case .watched(let watch) = watchHere(isLast ? .content : .names) else { return false }
        let next = here + [Self.slash] + name
        let found = Self.look(at: next, followingLink: !isLast)
        route.step(watch, name, found, isLast: isLast)
        switch found {
        case .directory: here = next
        case .link(let destination): return follow(destination)
        case .other, .nothing: return false
        }
        return true
    }

    private mutating func follow(_ destination: [UInt8]) -> Bool {
        links += 1
        if links > Self.maximumLinks { return false }
        if destination.first == Self.slash { here = [] }
        pending += MonitorPath.components(of: destination).reversed()
        return true
    }

    private enum Watch {
        /// Nil if this user may not watch it.
        case watched(Int32?)
        case failed
    }

    private mutating func watchHere(_ depth: WatchDepth) -> Watch {
        let number = watcher.add(here.isEmpty ? [Self.slash] : here, depth)
        switch -number {
        case ...0: return .watched(number)
        case EACCES, EPERM: return .watched(nil)
        // The directory no longer exists: the previous step has an unread event, or counts as not covered.
        case ENOENT, ENOTDIR, ELOOP: return .failed
        default:
            route.failure = watcher.refusal(number, target.string)
            return .failed
        }
    }

    private static func look(at path: [UInt8], followingLink: Bool) -> RouteFinding {
        (path + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return .nothing }
                var status = stat()
                if uninterrupted({ lstat(start, &status) }) < 0 { return .nothing }
                switch FileKind(mode: status.st_mode) {
                case .directory: return .directory
                case .symbolicLink where followingLink: return destination(ofLink: start)
                default: return .other
                }
            }
        }
    }

    /// A file that is no longer a link counts as missing: the change has an unread event.
    private static func destination(ofLink path: UnsafePointer<CChar>) -> RouteFinding {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return .nothing }
            let count = readlink(path, start, buffer.count)
            return count <= 0 ? .nothing : .link(to: buffer[..<count].map { UInt8(bitPattern: $0) })
        }
    }
}

/// An absolute path in components. Bytes throughout: two names that are equal as Swift `String`s may be two files.
struct MonitorPath {
    /// The original path, for messages.
    let string: String
    /// The components without empty ones and `.`; `..` stays, since its meaning depends on the links before it.
    let components: [[UInt8]]

    static let parent = Array("..".utf8)

    init(_ string: String) throws(FileError) {
        guard string.utf8.first == UInt8(ascii: "/"), !string.utf8.contains(0) else {
            throw FileError(
                .invalidName, operation: "watch", path: string, advice: "Give an absolute path without NUL.")
        }
        self.string = string
        components = Self.components(of: Array(string.utf8))
    }

    static func components(of path: [UInt8]) -> [[UInt8]] {
        path.split(separator: UInt8(ascii: "/")).map(Array.init).filter { $0 != [UInt8(ascii: ".")] }
    }
}

/// A name in a watched directory that a target depends on; without a name, everything in it.
struct MonitorSpot: Hashable {
    let watch: Int32
    let name: [UInt8]?
}

/// The resolved way from `/` to a watched path: each directory on it, and the name that was looked up there.
struct MonitorRoute {
    /// All names whose change may change the way or its end.
    private(set) var spots: Set<MonitorSpot> = []
    /// The path's own name in its directory, if the way leads that far.
    private(set) var leaf: MonitorSpot?
    /// `true` if the path itself is a directory.
    private(set) var isDirectory = false
    /// The error that prevented watching a directory, other than a lack of permission.
    var failure: FileError?
    private var steps: [Step] = []

    private struct Step {
        let isWatched: Bool
        var found: RouteFinding
    }

    mutating func step(_ watch: Int32?, _ name: [UInt8], _ found: RouteFinding, isLast: Bool) {
        steps.append(Step(isWatched: watch != nil, found: found))
        guard let watch else { return }
        let spot = MonitorSpot(watch: watch, name: name)
        spots.insert(spot)
        if isLast { leaf = spot }
    }

    /// - Parameter watch: nil if the directory may not be watched.
    mutating func end(inside watch: Int32?) {
        isDirectory = true
        steps.append(Step(isWatched: watch != nil, found: .other))
        if let watch { spots.insert(MonitorSpot(watch: watch, name: nil)) }
    }

    /// `true` if every change of the way and of its end is reported.
    ///
    /// A directory can't be watched if this user may not read it. The directory below it, if it is watched and not
    /// empty, compensates for the missing events: its move is reported to itself, and it cannot be removed before its
    /// entries, whose removal is reported. (Its own removal is not enough: that is reported only when no process has it
    /// open.)
    var isCovered: Bool {
        guard failure == nil else { return false }
        return steps.indices.allSatisfy { index in
            if steps[index].isWatched { return true }
            guard steps[index].found == .directory, index + 1 < steps.count else { return false }
            return steps[index + 1].isWatched && steps[index + 1].found != .nothing
        }
    }
}

/// The kind of file that a name on the way refers to.
enum RouteFinding: Equatable {
    case directory
    case link(to: [UInt8])
    case other
    case nothing
}
