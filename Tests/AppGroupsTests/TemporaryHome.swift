import AppGroups
import Glibc
import SystemPackage
import TestSupport

/// A home below a fresh directory, removed with its contents when the value is released.
///
/// Its path contains characters that a careless command fails on: a space, a quote and a dollar sign.
final class TemporaryHome: Sendable {
    private let directory: TemporaryDirectory
    let home: GroupsHome

    var base: String { directory.path }

    init() throws {
        directory = try TemporaryDirectory()
        home = GroupsHome(root: directory.path + "/it's a $home")
    }

    /// Returns the path of a container, or of an item below it.
    func path(_ group: AppGroup, _ relative: String = "") -> String {
        home.containersPath.appending(group.identifier).appending(relative).string
    }
}

/// Runs a shell command and returns its exit status.
@discardableResult
func run(_ command: String) -> Int32 {
    var child = pid_t()
    var arguments: [UnsafeMutablePointer<CChar>?] =
        ["sh", "-c", command].map { (word: String) in strdup(word) } + [nil]
    defer { arguments.forEach { free($0) } }
    guard posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ) == 0 else { return -1 }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return (status >> 8) & 0xFF
}

func status(of path: String) -> stat? {
    var facts = stat()
    return lstat(path, &facts) == 0 ? facts : nil
}

func mode(of path: String) -> mode_t? {
    status(of: path).map { $0.st_mode & 0o7777 }
}

func isDirectory(_ path: String) -> Bool {
    status(of: path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
}
