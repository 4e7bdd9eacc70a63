import Glibc
import Testing

/// An object that a member could plant under a name instead of a file of its own.
enum PlantedThing: String, CaseIterable, Sendable {
    case fifo, directory, linkToFile, linkToDirectory, danglingLink, hardLink, device

    /// The objects that this user can create; only root makes devices.
    static var possible: [PlantedThing] { geteuid() == 0 ? allCases : allCases.filter { $0 != .device } }

    /// - Parameter outside: A directory with a file `precious`; links lead to one of them.
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
