internal import Glibc
internal import SharedFiles

/// The variables that decide where a home lies.
package enum HomeEnvironment {
    /// Puts everything below one directory.
    package static let root = "SEALED_GROUPS_HOME"
    /// Puts what belongs to one user, keys and watermarks, below a directory of its own.
    package static let user = "SEALED_USER_HOME"
    static let home = "HOME"
    static let data = "XDG_DATA_HOME"
    static let configuration = "XDG_CONFIG_HOME"
    static let state = "XDG_STATE_HOME"

    /// The variables that name directories of one user.
    static let personal: Set<String> = [home, configuration, state]

    /// Every variable that is looked at.
    package static let names = [root, user, home, data, configuration, state]

    /// The variables that are set in this process.
    ///
    /// Nothing in a program that has more rights than its caller: the caller could otherwise point it at a directory of
    /// the caller's own.
    ///
    /// - Throws: ``AppGroupError`` with `invalidHome` for a value that is not UTF-8. Repairing it would name another
    ///   directory.
    static func read() throws(AppGroupError) -> [String: String] {
        var values: [String: String] = [:]
        // Asked as well: a program may have changed its ids since it was started.
        guard getuid() == geteuid(), getgid() == getegid() else { return values }
        for name in names {
            guard let pointer = SecureEnvironment.value(name) else {
                // Falling back would put a second home, and a second key, where nobody looks for them.
                if name != home && getenv(name) != nil { throw .untrustedHome(name) }
                continue
            }
            guard let value = String(validatingCString: pointer) else { throw .unreadableHome(name) }
            values[name] = value
        }
        return values
    }
}
