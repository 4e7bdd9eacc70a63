internal import Glibc

/// The home directory that the user database has for a user.
package enum AccountHome {
    private static let largestBuffer = 1 << 20

    /// The real user's directory as the database has it; `nil` where there is no entry, it is not UTF-8, or the lookup fails.
    package static func read() -> String? { read(getuid()) }

    /// The directory of the user that this process writes files as.
    static func ofEffectiveUser() -> String? { read(geteuid()) }

    private static func read(_ user: uid_t) -> String? {
        var size = 1024
        while size <= largestBuffer {
            switch look(user, withBufferOf: size) {
            case .found(let home): return home
            case .none: return nil
            case .bufferTooSmall: size *= 4
            }
        }
        return nil
    }

    private enum Answer {
        case found(String?)
        case none
        case bufferTooSmall
    }

    private static func look(_ user: uid_t, withBufferOf size: Int) -> Answer {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
            guard let start = buffer.baseAddress else { return .none }
            var entry = passwd()
            var result: UnsafeMutablePointer<passwd>?
            var status = EINTR
            while status == EINTR {
                status = getpwuid_r(user, &entry, start, size, &result)
            }
            if status == ERANGE { return .bufferTooSmall }
            guard status == 0, result != nil, let directory = entry.pw_dir else { return .none }
            return .found(String(validatingCString: directory))
        }
    }
}
