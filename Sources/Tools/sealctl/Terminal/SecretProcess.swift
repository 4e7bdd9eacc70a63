internal import Glibc
internal import KeyVault
internal import Synchronization

/// A process that holds secrets: nothing of its memory gets into a core file, and no program of the same user looks into
/// it.
enum SecretProcess {
    /// The limit on core files that the program was started with: for programs that it starts in turn.
    static var formerCoreLimit: rlimit { former.withLock { $0 } }
    private static let former = Mutex(rlimit())

    /// Called before anything secret is read. Lowering a limit and hiding are always allowed.
    static func begin() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        former.withLock { [limit] in $0 = limit }
        limit.rlim_cur = 0
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        ProcessMemory.hide()
    }
}
