import AppGroups
import FoundationEssentials
import Glibc
import KeyVault
import SealedState

/// A group of our own in a new directory, which is removed at the end.
final class Workspace {
    let path: String
    let group: AppGroup
    var home: GroupsHome { GroupsHome(root: path) }

    /// - Parameter parent: A directory that exists; its file system is what gets measured.
    init(in parent: String) throws {
        path = "\(parent)/sealed-bench.\(getpid()).\(UInt32.random(in: .min ... .max))"
        guard mkdir(path, 0o700) == 0 else {
            throw BenchmarkFailure("no directory can be made in \(parent): \(String(cString: strerror(errno)))")
        }
        group = try AppGroup("group.org.example.bench")
    }

    func openStore() throws -> SealedStore { try SealedStore(group: group, in: home) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
