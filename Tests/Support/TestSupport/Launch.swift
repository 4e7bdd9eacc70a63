internal import Glibc

/// One call of posix_spawn(3): standard streams from given descriptors, and signals as after a login.
struct Launch {
    let path: String
    let arguments: [String]
    let environment: [String]
    let directory: String?

    func spawn(streams: [Int32]) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in streams.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        resetSignals(&attributes)
        return try spawn(&actions, &attributes)
    }

    /// The command line. The shell only changes the directory and is then replaced.
    private var words: [String] {
        guard let directory else { return [path] + arguments }
        return ["/bin/sh", "-c", #"cd -- "$0" && exec "$@""#, directory, path] + arguments
    }

    private func resetSignals(_ attributes: inout posix_spawnattr_t) {
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    }

    private func spawn(
        _ actions: inout posix_spawn_file_actions_t, _ attributes: inout posix_spawnattr_t
    ) throws -> Int32 {
        var argumentPointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environmentPointers: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { (argumentPointers + environmentPointers).forEach { free($0) } }
        var pid: pid_t = 0
        let number = posix_spawn(&pid, words[0], &actions, &attributes, &argumentPointers, &environmentPointers)
        if number != 0 { throw SystemFailure("posix_spawn \(path)", number) }
        return pid
    }
}
