import Glibc
import TestSupport

/// Whole directories, without any of the care that the library takes.
enum FileTree {
    static func remove(_ path: String) throws {
        if unlink(path) == 0 { return }
        for name in try SystemFile.names(path) { try remove("\(path)/\(name)") }
        rmdir(path)
    }

    static func give(_ path: String, to user: UInt32) throws {
        lchown(path, user, user)
        for name in (try? SystemFile.names(path)) ?? [] { try give("\(path)/\(name)", to: user) }
    }
}
