internal import Glibc

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
