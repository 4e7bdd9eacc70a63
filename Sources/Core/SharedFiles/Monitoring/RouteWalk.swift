internal import Glibc

/// Finds the way to a path and watches every directory on it.
///
/// Links on the way are followed step by step, since each may be changed at any time; a link as the path's last component
/// is not: what counts there is the name.
///
/// Why nothing is missed: a directory is watched *before* a name is looked up in it. So whatever changes a step after it was
/// looked at has an event that is still to be read, which makes the way be walked again. That also holds for paths: when
/// `/a/b` is looked up and `/a` was swapped since its step, `/` has an event for `a`.
struct RouteWalk {
    private let watcher: any DirectoryWatcher
    private let target: MonitorPath
    /// The directory reached, free of links; empty for `/`.
    private var here: [UInt8] = []
    /// Components still to go, the next one last.
    private var pending: [[UInt8]]
    private var links = 0
    private var route = MonitorRoute()

    /// As many as the kernel follows, path_resolution(7).
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

    /// Whether the way goes on.
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
        /// Nil where this user may not watch it.
        case watched(Int32?)
        case failed
    }

    private mutating func watchHere(_ depth: WatchDepth) -> Watch {
        let number = watcher.add(here.isEmpty ? [Self.slash] : here, depth)
        switch -number {
        case ...0: return .watched(number)
        case EACCES, EPERM: return .watched(nil)
        // No directory any more: the step that led here has an event to be read, or counts as not covered.
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

    /// A link that is none any more is nothing: the change has an event to be read.
    private static func destination(ofLink path: UnsafePointer<CChar>) -> RouteFinding {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return .nothing }
            let count = readlink(path, start, buffer.count)
            return count <= 0 ? .nothing : .link(to: buffer[..<count].map { UInt8(bitPattern: $0) })
        }
    }
}
