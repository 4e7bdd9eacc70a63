internal import SharedFiles

/// How much memory a program can take now without pushing others out.
enum FreeMemory {
    /// In KiB: what the machine has available, or less where a control group allows less; 1 GiB where nothing says.
    static func kibibytes() -> UInt64 {
        let machine = text("/proc/meminfo").flatMap(available(in:)) ?? 1024 * 1024
        return controlGroups().reduce(machine) { least, path in
            guard let limit = number("\(path)/memory.max"), let used = number("\(path)/memory.current") else {
                return least
            }
            return min(least, (limit > used ? limit - used : 0) / 1024)
        }
    }

    /// `MemAvailable` of proc_meminfo(5).
    static func available(in meminfo: String) -> UInt64? {
        for line in meminfo.split(separator: "\n") where line.hasPrefix("MemAvailable:") {
            return line.split(separator: " ").dropFirst().first.flatMap { UInt64($0) }
        }
        return nil
    }

    /// The directories of this process's control group (version 2) and of all above it, each with limits of its own.
    private static func controlGroups() -> [String] {
        let root = "/sys/fs/cgroup"
        guard let groups = text("/proc/self/cgroup"),
            let own = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        else { return [root] }
        var paths = [root]
        for part in own.dropFirst(4).split(separator: "/") { paths.append("\(paths[paths.count - 1])/\(part)") }
        return paths
    }

    /// A file that holds one number; nil for `max` and for one that is not there.
    private static func number(_ path: String) -> UInt64? {
        text(path).flatMap { $0.split(separator: "\n").first }.flatMap { UInt64($0) }
    }

    private static func text(_ path: String) -> String? {
        guard let descriptor = try? Descriptor.openForReading(path: path) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = bytes.withUnsafeMutableBytes { (try? descriptor.read(into: $0)) ?? 0 }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
