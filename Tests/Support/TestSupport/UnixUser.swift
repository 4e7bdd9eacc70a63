internal import Glibc

/// A unix user for child processes: numbers, which need no account.
package struct UnixUser: Sendable {
    /// The user's number.
    package let uid: UInt32
    /// The primary unix group.
    package let gid: UInt32
    /// The other unix groups.
    package let groups: [UInt32]

    /// Creates a user from its numbers.
    package init(uid: UInt32, gid: UInt32, groups: [UInt32] = []) {
        self.uid = uid
        self.gid = gid
        self.groups = groups
    }

    /// The unix group that `ada` and `bob` share.
    package static let team: UInt32 = 4700
    /// A member of the team.
    package static let ada = UnixUser(uid: 4701, gid: 4701, groups: [team])
    /// Another member of the team.
    package static let bob = UnixUser(uid: 4702, gid: 4702, groups: [4790, team])
    /// A user outside the team.
    package static let eve = UnixUser(uid: 4703, gid: 4703, groups: [4790])

    /// True if tests can run children as other users.
    package static var canBecome: Bool { geteuid() == 0 && access(setpriv, X_OK) == 0 }

    /// Starts an executable as this user. Without a `/` it is a product of this package.
    ///
    /// - Parameter umask: in octal, as a shell has it.
    package func start(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], umask: String = "022"
    ) throws -> ChildProcess {
        try ChildProcess(Self.setpriv, words(executable, arguments, umask), environment: environment)
    }

    /// Runs an executable as this user to its end.
    package func run(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], umask: String = "022"
    ) throws -> ChildResult {
        try ChildProcess.run(Self.setpriv, words(executable, arguments, umask), environment: environment)
    }

    private func words(_ executable: String, _ arguments: [String], _ umask: String) -> [String] {
        let path = executable.contains("/") ? executable : builtProduct(executable)
        let others = groups.isEmpty ? "--clear-groups" : "--groups=" + groups.map(String.init).joined(separator: ",")
        return ["--reuid=\(uid)", "--regid=\(gid)", others, "/bin/sh", "-c", #"umask "$0" && exec "$@""#, umask, path]
            + arguments
    }

    private static let setpriv = "/usr/bin/setpriv"
}
