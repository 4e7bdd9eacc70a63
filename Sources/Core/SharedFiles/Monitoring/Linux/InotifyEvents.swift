internal import Glibc

/// What is asked of inotify(7) for a directory.
enum InotifyMask {
    private static let names =
        UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE_SELF)
        | UInt32(IN_MOVE_SELF) | UInt32(IN_ATTRIB)
    private static let content = names | UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE)
    /// `IN_MASK_ADD`: a directory that is watched already must not lose what others asked for.
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

    /// `IN_IGNORED` and `IN_UNMOUNT` have no bit asked for and no name: they fall under `itself`.
    private static func kind(_ mask: UInt32, isNamed: Bool) -> DirectoryEvent.Kind {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { return .overflow }
        if !isNamed { return .itself }
        let names = UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
        return mask & names == 0 ? .content : .name(isDirectory: mask & UInt32(IN_ISDIR) != 0)
    }
}
