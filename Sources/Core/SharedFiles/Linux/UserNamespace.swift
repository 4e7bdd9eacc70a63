internal import Glibc

/// Whom a directory may belong to without being able to exchange what this process finds below it.
enum TrustedOwner {
    /// The effective user and root; inside a user namespace also the owner that stands for everybody outside it.
    ///
    /// A sandbox that maps its own user only sees root's directories as belonging to nobody (user_namespaces(7),
    /// "overflow user ID"). Who that really is cannot be told from inside.
    static func includes(_ owner: uid_t) -> Bool {
        owner == geteuid() || owner == 0 || (owner == overflow && !IdentityMap.users.isComplete)
    }

    /// The kernel's default; `/proc/sys/kernel/overflowuid` is never changed in practice.
    private static let overflow: uid_t = 65_534
}

/// Which users or groups exist in this process's user namespace.
struct IdentityMap {
    /// Whether all of them do: the map is one line, `0 0 4294967295`.
    let isComplete: Bool

    static let users = IdentityMap(path: "/proc/self/uid_map")
    static let groups = IdentityMap(path: "/proc/self/gid_map")

    private init(path: String) {
        guard let map = try? Descriptor.openForReading(path: path) else {
            isComplete = true
            return
        }
        isComplete = withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { buffer in
            let count = (try? map.read(into: buffer)) ?? 0
            let words = buffer[0..<count].split { $0 == 0x20 || $0 == 0x0A }
            return words.elementsEqual(["0", "0", "4294967295"]) { $0.elementsEqual($1.utf8) }
        }
    }
}
