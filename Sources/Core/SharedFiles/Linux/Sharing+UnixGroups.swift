internal import Glibc

extension Sharing {
    /// Returns sharing with the unix group of a name, by the group database.
    ///
    /// - Throws: `FileError`, `notFound` where the database has no such group.
    public static func unixGroup(named name: String) throws(FileError) -> Sharing {
        var size = 1024
        while true {
            var group: gid_t?
            let number = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { look(name, &group, $0) }
            if let group { return .unixGroup(group) }
            // A group with many members needs more room for their names.
            guard number == ERANGE && size < 1 << 24 else { throw unknown(name, number) }
            size *= 4
        }
    }

    /// Returns the name of a unix group and its members in the group database; nil for an unknown group. Users whose
    /// primary group it is are not listed there.
    package static func members(ofGroup number: UInt32) -> (name: String, members: [String])? {
        var size = 1024
        while size < 1 << 24 {
            var found: (name: String, members: [String])?
            let status = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { space -> Int32 in
                guard let start = space.baseAddress else { return ENOMEM }
                var entry = Glibc.group()
                var result: UnsafeMutablePointer<Glibc.group>?
                var status = EINTR
                while status == EINTR { status = getgrgid_r(number, &entry, start, space.count, &result) }
                guard status == 0, result != nil else { return status }
                var members: [String] = []
                var next = entry.gr_mem
                while let name = next?.pointee {
                    members.append(String(cString: name))
                    next = next?.advanced(by: 1)
                }
                found = (String(cString: entry.gr_name), members.sorted())
                return 0
            }
            if status != ERANGE { return found }
            // A group with many members needs more room for their names.
            size *= 4
        }
        return nil
    }

    /// Looks up a group; returns 0 or an error number.
    private static func look(
        _ name: String, _ group: inout gid_t?, _ space: UnsafeMutableBufferPointer<CChar>
    ) -> Int32 {
        guard let start = space.baseAddress else { return ENOMEM }
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var number = EINTR
        while number == EINTR { number = getgrnam_r(name, &entry, start, space.count, &found) }
        if number == 0 && found != nil { group = entry.gr_gid }
        return number
    }

    /// A missing group has many error numbers (getgrnam(3)); other failures are reported the same way.
    private static func unknown(_ name: String, _ number: Int32) -> FileError {
        FileError(
            .notFound, operation: "find the unix group", path: name, errno: number == 0 ? nil : number,
            advice: "See the groups: getent group")
    }
}
