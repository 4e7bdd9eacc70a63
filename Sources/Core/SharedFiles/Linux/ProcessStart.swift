internal import CLinux

/// The arguments that this process was started with.
///
/// `CommandLine.arguments` is read from `/proc` on Linux and is empty where `/proc` is hidden: a command would then do nothing
/// and report success. These come from the C library.
package enum ProgramArguments {
    /// The arguments with the program's name first; empty where the C library passed none, which no kernel since Linux 5.18
    /// lets happen on glibc.
    package static let all: [String] = (0..<count).compactMap { vector?[$0].map { String(cString: $0) } }

    /// The arguments behind the program's name.
    package static var withoutName: ArraySlice<String> { all.dropFirst() }

    /// The number of arguments with the program's name.
    package static var count: Int { Int(clinux_argument_count()) }

    /// The arguments as `execve(2)` takes them, `NULL` at the end; `nil` where there are none.
    package static var vector: UnsafePointer<UnsafeMutablePointer<CChar>?>? { clinux_arguments() }
}

/// The environment of a process that its caller did not lend more rights than the caller has (secure_getenv(3)).
package enum SecureEnvironment {
    /// A variable's bytes, up to its NUL; nil where it is not set, and in a set-user-ID or set-group-ID program and one with
    /// file capabilities, whose environment is its caller's.
    package static func value(_ name: String) -> UnsafePointer<CChar>? { clinux_secure_getenv(name) }
}
