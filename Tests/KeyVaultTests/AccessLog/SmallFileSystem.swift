import Glibc
import TestSupport

/// A file system in memory of 64 KiB, where the tests may mount one.
final class SmallFileSystem {
    let path: String

    static let isPossible: Bool = {
        guard geteuid() == 0, let place = try? TemporaryDirectory(),
            let small = try? SmallFileSystem(at: place.path)
        else { return false }
        return withExtendedLifetime(small) { true }
    }()

    init(at path: String) throws {
        self.path = path
        guard mount("none", path, "tmpfs", 0, "size=64k,mode=0700") == 0 else { throw CannotMount(number: errno) }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }

    struct CannotMount: Error { let number: Int32 }
}
