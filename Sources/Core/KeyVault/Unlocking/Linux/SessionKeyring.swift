internal import CLinux
internal import Glibc
package import SharedFiles

/// The keyring that a login or a service gives to its processes, session-keyring(7).
package enum SessionKeyring {
    /// Gives this process a fresh one, as a new login or service has: what follows stands in for such a process.
    ///
    /// - Throws: `FileError` `.permissionDenied` or `.unsupported` where keyrings are out of reach.
    package static func joinFresh() throws(FileError) {
        let result = clinux_join_session_keyring()
        if result < 0 { throw FileError(errno: -result, operation: "join", path: "a session keyring") }
    }
}
