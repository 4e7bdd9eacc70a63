package import Glibc

/// A program to start in a child process, by posix_spawn(3).
///
/// The child blocks no signal, regardless of the signals that this process blocks.
package struct ChildProgram {
    /// The way that a program is found.
    package enum Location {
        case path(String)
        /// A path, or a name that is searched for in `PATH`.
        case name(String)
    }

    private let location: Location
    private let arguments: [String]
    private let environment: [String]?
    private var duplicates: [(descriptor: Int32, target: Int32)] = []
    private var files: [(path: String, flags: Int32, target: Int32)] = []
    private var defaultSignals: [Int32] = []
    /// The child and what it starts are a process group of their own, with the child's number.
    package var hasOwnGroup = false

    /// - Parameters:
    ///   - arguments: The words of the command line, the program's name first.
    ///   - environment: `NAME=value` pairs; `nil` for the environment of this process.
    package init(_ location: Location, _ arguments: [String], environment: [String]? = nil) {
        self.location = location
        self.arguments = arguments
        self.environment = environment
    }

    /// Gives the child an open descriptor under another number.
    package mutating func connect(_ descriptor: Int32, to target: Int32) { duplicates.append((descriptor, target)) }

    /// Opens a file in the child.
    package mutating func open(_ path: String, _ flags: Int32, as target: Int32) {
        files.append((path, flags, target))
    }

    /// Restores the default action of signals that this process ignores: ignoring them is inherited.
    package mutating func restoreSignals(_ numbers: [Int32]) { defaultSignals += numbers }

    /// Starts the program.
    ///
    /// - Returns: The id of the process, which the caller has to wait for.
    /// - Throws: `StartFailure` if the system does not start it.
    package func start() throws(StartFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, target) in duplicates { posix_spawn_file_actions_adddup2(&actions, descriptor, target) }
        for (path, flags, target) in files { posix_spawn_file_actions_addopen(&actions, target, path, flags, 0) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        setSignals(&attributes)
        if hasOwnGroup { posix_spawnattr_setpgroup(&attributes, 0) }
        let words = arguments.map { strdup($0) } + [nil]
        let variables = environment.map { $0.map { strdup($0) } + [nil] }
        defer { for text in words + (variables ?? []) { free(text) } }
        var process = pid_t()
        let number = spawn(&process, &actions, &attributes, words, variables)
        guard number == 0 else { throw StartFailure(errno: number) }
        return process
    }

    private func spawn(
        _ process: inout pid_t, _ actions: inout posix_spawn_file_actions_t, _ attributes: inout posix_spawnattr_t,
        _ words: [UnsafeMutablePointer<CChar>?], _ variables: [UnsafeMutablePointer<CChar>?]?
    ) -> Int32 {
        switch (location, variables) {
        case (.path(let path), let variables?):
            posix_spawn(&process, path, &actions, &attributes, words, variables)
        case (.path(let path), nil): posix_spawn(&process, path, &actions, &attributes, words, environ)
        case (.name(let name), let variables?):
            posix_spawnp(&process, name, &actions, &attributes, words, variables)
        case (.name(let name), nil): posix_spawnp(&process, name, &actions, &attributes, words, environ)
        }
    }

    private func setSignals(_ attributes: inout posix_spawnattr_t) {
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in defaultSignals { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
    }
}

/// The reason why a program was not started.
package struct StartFailure: Error, CustomStringConvertible {
    /// The number of posix_spawn(3).
    package let errno: Int32

    /// The system's words for it.
    package var description: String { String(cString: strerror(errno)) }
}

/// The way in which a child process ended, from its wait status (wait(2)).
package struct WaitStatus: CustomStringConvertible {
    private let status: Int32

    package init(_ status: Int32) { self.status = status }

    /// The signal that ended it; 0 if it ended by itself.
    package var signal: Int32 { status & 0x7F }

    /// Its exit status, or 128 and the signal that ended it, as shells have it.
    package var code: Int32 { signal == 0 ? status >> 8 & 0xFF : 128 + signal }

    package var description: String {
        signal == 0 ? "exit status \(code)" : "signal \(signal) (\(String(cString: strsignal(signal))))"
    }
}
