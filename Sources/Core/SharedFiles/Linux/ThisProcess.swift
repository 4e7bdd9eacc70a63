internal import CLinux
package import Glibc

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

/// The visibility of this process's memory to other processes.
package enum ProcessMemory {
    /// Prevents other processes of the same user from reading this process's memory (ptrace(2), `/proc/PID/mem`), and
    /// prevents core files. Child programs are not affected.
    ///
    /// Root can still read it. The call cannot fail for the value that it passes.
    package static func hide() { _ = clinux_set_dumpable(0) }
}

/// The owners whose directories are trusted.
package enum TrustedOwner {
    /// Returns `true` for the effective user and root; inside a user namespace also for the owner that represents all
    /// users outside it.
    ///
    /// A sandbox that maps only its own user sees root's directories as owned by the "overflow user ID"
    /// (user_namespaces(7)). The real owner cannot be determined from inside.
    package static func includes(_ owner: uid_t, for user: uid_t = geteuid()) -> Bool {
        owner == user || owner == 0 || (owner == overflow && !IdentityMap.users.isComplete)
    }

    /// The kernel's default; `/proc/sys/kernel/overflowuid` is never changed in practice.
    private static let overflow: uid_t = 65_534
}

/// The users or groups that exist in this process's user namespace.
struct IdentityMap {
    /// `true` if all of them exist: the map is one line, `0 0 4294967295`.
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

/// The unix groups of this process.
enum ProcessGroups {
    /// Returns whether the group is the effective group or a supplementary one.
    ///
    /// In a user namespace every outside group appears as the overflow group (user_namespaces(7)), both in a file and
    /// in the process. The two may be different groups, so the overflow group counts as foreign.
    static func contain(_ group: gid_t) -> Bool {
        if group == overflow && !IdentityMap.groups.isComplete { return false }
        return group == getegid() || supplementary().contains(group)
    }

    private static let overflow: gid_t = 65_534

    /// Read each time: a service may add or drop groups after its start.
    private static func supplementary() -> [gid_t] {
        while true {
            let count = Int(getgroups(0, nil))
            guard count > 0 else { return [] }
            var result: Int32 = 0
            let groups = [gid_t](unsafeUninitializedCapacity: count) { buffer, initialized in
                result = getgroups(Int32(count), buffer.baseAddress)
                initialized = Int(max(result, 0))
            }
            // EINVAL: another thread extended the list meanwhile.
            if result >= 0 || errno != EINVAL { return groups }
        }
    }
}
