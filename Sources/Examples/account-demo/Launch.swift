internal import FoundationEssentials
internal import Glibc

/// How a program is to be started: posix_spawn(3) with its descriptors and a clean slate of signals.
struct Launch: ~Copyable {
    private let path: String
    private let arguments: [String]
    private let environment: [String]
    private var actions = posix_spawn_file_actions_t()

    init(_ path: String, _ arguments: [String], _ environment: [String: String]) {
        self.path = path
        self.arguments = [path] + arguments
        self.environment = ProcessInfo.processInfo.environment
            .merging(environment) { _, ours in ours }
            .map { "\($0)=\($1)" }
        posix_spawn_file_actions_init(&actions)
    }

    deinit {
        var actions = actions
        posix_spawn_file_actions_destroy(&actions)
    }

    mutating func connect(_ descriptor: Int32, to target: Int32) {
        posix_spawn_file_actions_adddup2(&actions, descriptor, target)
    }

    enum Failure: Error {
        case number(Int32)
    }

    func start() -> Result<pid_t, Failure> {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.resetSignals(&attributes)
        var actions = actions
        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup($0) } + [nil]
        defer { for string in argv + envp { free(string) } }
        var id: pid_t = 0
        let error = posix_spawn(&id, path, &actions, &attributes, argv, envp)
        return error == 0 ? .success(id) : .failure(.number(error))
    }

    /// The conductor blocks and ignores signals that its children have to feel.
    private static func resetSignals(_ attributes: inout posix_spawnattr_t) {
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }
}
