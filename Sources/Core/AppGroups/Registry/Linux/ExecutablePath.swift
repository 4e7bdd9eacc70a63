internal import Glibc
internal import PropertyLists

/// Where executables lie.
package enum ExecutablePath {
    /// The executable of a process of this user, without links; nil where the process is gone or is another user's, or the
    /// file was removed or replaced since it started (proc(5)).
    package static func ofProcess(_ process: Int32) -> String? { target(of: "/proc/\(process)/exe") }

    static func ofThisProcess() -> String? { target(of: "/proc/self/exe") }

    /// The path without links; nil where nothing lies there.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(validatingCString: resolved)
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether nothing lies there for certain. What this user may not look at may be there, and so may what lies on a disk
    /// that fails.
    static func isGone(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 && [ENOENT, ENOTDIR].contains(errno)
    }

    private static func target(of link: String) -> String? {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { space in
                count = space.baseAddress.map { max(0, readlink(link, $0, space.count)) } ?? 0
            }
        }
        guard let path = String(validating: bytes, as: UTF8.self), path.hasPrefix("/"), exists(path) else { return nil }
        return path
    }
}

extension PropertyListDate {
    /// Now, to the second: what a property list written as XML can say. Nil while the clock is outside the years 0 to 9999.
    static var thisSecond: PropertyListDate? {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return PropertyListDate(secondsSince2001: Double(time.tv_sec) - secondsBetween1970And2001)
    }

    private static let secondsBetween1970And2001 = 978_307_200.0
}
