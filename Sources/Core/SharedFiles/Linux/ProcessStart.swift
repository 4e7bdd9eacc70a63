internal import CLinux

/// The arguments that this process was started with.
///
/// `CommandLine.arguments` is read from `/proc` on Linux and is empty if `/proc` is hidden: a command would then do
/// nothing and report success. These come from the C library.
package enum ProgramArguments {
    /// The arguments with the program's name first; empty if the C library passed none, which no kernel since Linux
    /// 5.18 allows on glibc.
    package static let all: [String] = (0..<count).compactMap { vector?[$0].map { String(cString: $0) } }

    /// The arguments after the program's name.
    package static var withoutName: ArraySlice<String> { all.dropFirst() }

    /// The number of arguments with the program's name.
    package static var count: Int { Int(clinux_argument_count()) }

    /// The arguments as `execve(2)` takes them, `NULL` at the end; `nil` without arguments.
    package static var vector: UnsafePointer<UnsafeMutablePointer<CChar>?>? { clinux_arguments() }
}

/// The environment of a process whose privileges do not exceed its caller's (secure_getenv(3)).
package enum SecureEnvironment {
    /// Returns a variable's bytes, up to its NUL; nil if it is not set, and in a set-user-ID or set-group-ID program or
    /// one with file capabilities, whose environment its caller controls.
    package static func value(_ name: String) -> UnsafePointer<CChar>? { clinux_secure_getenv(name) }
}
