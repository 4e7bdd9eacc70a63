internal import Glibc

/// Where processes of one user meet: a file system that is emptied at every start of the machine, and local.
enum UserRuntimePlace {
    static func current() -> String {
        let user = geteuid()
        let named = SecureEnvironment.value("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        // As the XDG base directory specification has it, a relative one counts as unset; another user's is no place for us.
        let runtime = [named, "/run/user/\(user)"].first { $0.hasPrefix("/") && isOwn($0, user) }
        return runtime.map { $0 + "/sealed-coordination" } ?? "/tmp/sealed-coordination-\(user)"
    }

    private static func isOwn(_ path: String, _ user: uid_t) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user
            && status.st_mode & 0o077 == 0
    }
}
