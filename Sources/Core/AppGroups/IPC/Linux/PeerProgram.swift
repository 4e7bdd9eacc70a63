internal import CLinux
internal import Glibc
internal import SharedFiles

/// Which program a process runs.
enum PeerProgram {
    /// The executable of the process at the other end; nil where that cannot be told.
    ///
    /// Where the kernel hands out the process itself (Linux 6.5), its number cannot have become another one's before the path
    /// was read. Before that it can, if the process has ended.
    static func path(ofProcess number: Int32, at socket: borrowing Descriptor) -> String? {
        let process = clinux_peer_pidfd(socket.rawValue)
        guard process >= 0 else { return process == -ENOPROTOOPT ? target(of: "/proc/\(number)/exe") : nil }
        let held = Descriptor(owning: process, path: "a process")
        let path = target(of: "/proc/\(number)/exe")
        return hasEnded(held) ? nil : path
    }

    /// A path with its links resolved; nil where nothing is there.
    static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(validatingCString: text)
    }

    /// A pidfd can be read from when its process has ended (pidfd_open(2)).
    private static func hasEnded(_ process: borrowing Descriptor) -> Bool {
        var request = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) != 0
    }

    private static func target(of link: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(link, start, buffer.count)
            guard count > 0, count < buffer.count else { return nil }
            return String(validating: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
        }
    }
}
