internal import Glibc

/// Whom a directory may belong to without being able to exchange what this process finds below it.
enum TrustedOwner {
    /// The effective user and root; inside a user namespace also the owner that stands for everybody outside it.
    ///
    /// A sandbox that maps its own user only sees root's directories as belonging to nobody (user_namespaces(7),
    /// "overflow user ID"). Who that really is cannot be told from inside.
    static func includes(_ owner: uid_t, for user: uid_t = geteuid()) -> Bool {
        owner == user || owner == 0 || (owner == overflow && !IdentityMap.users.isComplete)
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

/// The unix groups that this process is in.
enum ProcessGroups {
    /// Whether the effective group or a supplementary one is this.
    ///
    /// In a user namespace every group from outside shows as the overflow group (user_namespaces(7)), both in a file and
    /// in the process: those two need not be the same one, so it counts as foreign.
    static func contain(_ group: gid_t) -> Bool {
        if group == overflow && !IdentityMap.groups.isComplete { return false }
        return group == getegid() || supplementary().contains(group)
    }

    private static let overflow: gid_t = 65_534

    /// Asked each time: a service may take groups on or drop them after its start.
    private static func supplementary() -> [gid_t] {
        while true {
            let count = Int(getgroups(0, nil))
            guard count > 0 else { return [] }
            var result: Int32 = 0
            let groups = [gid_t](unsafeUninitializedCapacity: count) { buffer, initialized in
                result = getgroups(Int32(count), buffer.baseAddress)
                initialized = Int(max(result, 0))
            }
            // EINVAL: another thread made the list longer meanwhile.
            if result >= 0 || errno != EINVAL { return groups }
        }
    }
}
