internal import Glibc

/// Whom a directory may belong to without being able to exchange what this process finds below it.
enum TrustedOwner {
    /// The effective user and root; inside a user namespace also the owner that stands for everybody outside it.
    ///
    /// A sandbox that maps its own user only sees root's directories as belonging to nobody (user_namespaces(7),
    /// "overflow user ID"). Who that really is cannot be told from inside.
    static func includes(_ owner: uid_t) -> Bool {
        owner == geteuid() || owner == 0 || (owner == overflow && !mapsEveryUser)
    }

    /// The kernel's default; `/proc/sys/kernel/overflowuid` is never changed in practice.
    private static let overflow: uid_t = 65_534

    /// Whether all users exist here: the map is one line, `0 0 4294967295`.
    private static let mapsEveryUser: Bool = {
        guard let map = try? Descriptor.openForReading(path: "/proc/self/uid_map") else { return true }
        return withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { buffer in
            let count = (try? map.read(into: buffer)) ?? 0
            let words = buffer[0..<count].split { $0 == 0x20 || $0 == 0x0A }
            return words.elementsEqual(["0", "0", "4294967295"]) { $0.elementsEqual($1.utf8) }
        }
    }()
}
