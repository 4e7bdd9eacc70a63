internal import CLinux

/// The environment of a process that its caller did not lend more rights than the caller has (secure_getenv(3)).
package enum SecureEnvironment {
    /// A variable's bytes, up to its NUL; nil where it is not set, and in a set-user-ID or set-group-ID program and one with
    /// file capabilities, whose environment is its caller's.
    package static func value(_ name: String) -> UnsafePointer<CChar>? { clinux_secure_getenv(name) }
}
