import Glibc
import Testing

/// What a member could put under a name instead of a file of its own.
enum PlantedThing: String, CaseIterable, Sendable {
    case fifo, directory, linkToFile, linkToDirectory, danglingLink, hardLink, device

    /// Only root makes devices.
    static var possible: [PlantedThing] { geteuid() == 0 ? allCases : allCases.filter { $0 != .device } }

    /// - Parameter outside: A directory that has a file `precious`; links lead to the one or the other.
    func plant(at path: String, outside: String) {
        switch self {
        case .fifo: #expect(mkfifo(path, 0o600) == 0)
        case .directory: #expect(mkdir(path, 0o700) == 0)
        case .linkToFile: #expect(symlink(outside + "/precious", path) == 0)
        case .linkToDirectory: #expect(symlink(outside, path) == 0)
        case .danglingLink: #expect(symlink(outside + "/new", path) == 0)
        case .hardLink: #expect(link(outside + "/precious", path) == 0)
        case .device: #expect(mknod(path, S_IFCHR | 0o600, 1 << 8 | 3) == 0)
        }
    }
}
