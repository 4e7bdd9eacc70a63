internal import CLinux
internal import Glibc
internal import SharedFiles

/// A `DirectoryWatcher` by inotify(7): one instance, an eventfd(2) to wake the waiting thread, and the mount table,
/// since a directory has no event when a file system is mounted on it.
final class InotifyWatcher: DirectoryWatcher {
    private let inotify: Descriptor
    private let waker: Descriptor
    /// /proc/self/mountinfo, proc(5): a poll reports each change since the last one once. -1 if unavailable.
    private let mounts: Int32

    /// - Throws: `watchLimit` if the user has no instance left, `tooManyOpenFiles` if the process has no descriptor.
    init() throws(FileError) {
        waker = try Self.descriptor(clinux_eventfd())
        let opened = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        let number = opened < 0 ? errno : 0
        // EMFILE has two causes; if a descriptor is still available, the instances are exhausted.
        if number == EMFILE && Self.canDuplicate(waker.rawValue) { throw Self.instanceLimit }
        inotify = try Self.descriptor(number == 0 ? opened : -number)
        let table = uninterrupted { open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) }
        // Without /proc (a bare chroot) mounts go unnoticed, but a lack of descriptors is an error.
        mounts = [-EMFILE, -ENFILE].contains(table) ? try Self.descriptor(table).rawValue : max(-1, table)
    }

    deinit {
        if mounts >= 0 { close(mounts) }
    }

    private static func descriptor(_ opened: Int32) throws(FileError) -> Descriptor {
        if opened < 0 { throw FileError(errno: -opened, operation: "watch files", path: "inotify") }
        return Descriptor(owning: opened, path: "inotify")
    }

    private static func canDuplicate(_ descriptor: Int32) -> Bool {
        let second = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        if second < 0 { return false }
        close(second)
        return true
    }

    func add(_ path: [UInt8], _ depth: WatchDepth) -> Int32 {
        (path + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return -EINVAL }
                return uninterrupted { inotify_add_watch(inotify.rawValue, start, InotifyMask.asking(for: depth)) }
            }
        }
    }

    func remove(_ watch: Int32) {
        inotify_rm_watch(inotify.rawValue, watch)
    }

    func wake() {
        var one: UInt64 = 1
        // Fails only if the counter is full, which also wakes the thread.
        _ = write(waker.rawValue, &one, MemoryLayout<UInt64>.size)
    }

    func wait(_ limit: Duration?) -> [DirectoryEvent] {
        var requests = [
            pollfd(fd: inotify.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: waker.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: mounts, events: Int16(POLLPRI), revents: 0),
        ]
        // An interrupted poll returns no events; the caller waits again.
        if poll(&requests, 3, Self.milliseconds(limit)) <= 0 { return [] }
        if requests[1].revents != 0 {
            var count: UInt64 = 0
            _ = read(waker.rawValue, &count, MemoryLayout<UInt64>.size)
        }
        let events = requests[0].revents == 0 ? [] : readEvents()
        return requests[2].revents == 0 ? events : events + [DirectoryEvent(watch: -1, kind: .mounts, name: [])]
    }

    /// Rounded up, so that the limit is not repeatedly reached a little early.
    private static func milliseconds(_ limit: Duration?) -> Int32 {
        guard let limit else { return -1 }
        let (seconds, attoseconds) = limit.components
        if seconds < 0 || attoseconds < 0 { return 0 }
        return Int32(min(seconds, 1_000_000) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    private func readEvents() -> [DirectoryEvent] {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            let count = uninterruptedCount { read(inotify.rawValue, buffer.baseAddress, buffer.count) }
            return count <= 0 ? [] : InotifyEvents.parse(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}

extension InotifyWatcher {
    private static let operation = "watch files"

    private static var instanceLimit: FileError {
        FileError(
            .watchLimit, operation: operation, path: "inotify", errno: EMFILE,
            advice: "Close programs that watch files, or raise the user's limit of inotify instances: "
                + "sysctl fs.inotify.max_user_instances (in a container user.max_inotify_instances)")
    }

    func refusal(_ number: Int32, _ path: String) -> FileError {
        guard number == -ENOSPC else { return FileError(errno: -number, operation: "watch", path: path) }
        return FileError(
            .watchLimit, operation: "watch", path: path, errno: ENOSPC,
            advice: "Close programs that watch files, or raise the user's limit of watched directories: "
                + "sysctl fs.inotify.max_user_watches (in a container user.max_inotify_watches)")
    }
}

/// The events requested from inotify(7) for a directory.
enum InotifyMask {
    private static let names =
        UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE_SELF)
        | UInt32(IN_MOVE_SELF) | UInt32(IN_ATTRIB)
    private static let content = names | UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE)
    /// `IN_MASK_ADD`: an existing watch of the directory must keep its requested events.
    private static let manner = UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW) | UInt32(IN_MASK_ADD)

    static func asking(for depth: WatchDepth) -> UInt32 {
        switch depth {
        case .names: names | manner
        case .content: content | manner
        }
    }
}

/// The records of one read from an inotify instance: a `struct inotify_event`, then its name padded with NUL.
enum InotifyEvents {
    static func parse(_ buffer: UnsafeRawBufferPointer) -> [DirectoryEvent] {
        var events: [DirectoryEvent] = []
        var offset = 0
        while offset + MemoryLayout<inotify_event>.size <= buffer.count {
            let head = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let start = offset + MemoryLayout<inotify_event>.size
            let end = start + Int(head.len)
            guard end <= buffer.count else { break }
            let name = [UInt8](buffer[start..<end].prefix { $0 != 0 })
            events.append(DirectoryEvent(watch: head.wd, kind: kind(head.mask, isNamed: !name.isEmpty), name: name))
            offset = end
        }
        return events
    }

    /// `IN_IGNORED` and `IN_UNMOUNT` have no requested bit and no name: they are reported as `itself`.
    private static func kind(_ mask: UInt32, isNamed: Bool) -> DirectoryEvent.Kind {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { return .overflow }
        if !isNamed { return .itself }
        let names = UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        return mask & names == 0 ? .content : .name(isDirectory: mask & UInt32(IN_ISDIR) != 0)
    }
}
