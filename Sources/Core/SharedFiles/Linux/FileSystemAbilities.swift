internal import CLinux
internal import Glibc

/// The tested features of a directory's file system. For diagnosis only: writers test for themselves.
package struct FileSystemAbilities: Sendable, Hashable {
    /// Files without a name (`O_TMPFILE`), of which a crash leaves nothing.
    package let hasNamelessFiles: Bool
    /// Open file description locks; nil if they could not be tested without leaving a file.
    package let hasLocks: Bool?
    /// `true` if other machines may have it mounted too: neither locks nor notifications are reliable across them.
    package let isRemote: Bool
    /// The bytes that this user may still write.
    package let available: UInt64
}

extension Directory {
    /// Rejects work that takes more bytes than this user may still write, before anything is changed.
    ///
    /// - Parameter needed: The maximum of additional bytes that the work takes at any time.
    /// - Throws: `noSpace`, whose advice contains both numbers. A file system that reports no numbers rejects nothing.
    package func requireSpace(_ needed: Int64, _ operation: String) throws(FileError) {
        var facts = statvfs()
        guard fstatvfs(descriptor.rawValue, &facts) == 0 else { return }
        let (free, overflow) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
        guard !overflow, UInt64(clamping: needed) > free else { return }
        let path = display(".")
        throw FileError(
            .noSpace, operation: operation, path: path,
            advice: "It needs \(needed) bytes and \(free) are free; nothing was changed. Free some space: "
                + "df -h \(path.shellQuoted)")
    }

    /// Tests the features. Leaves no file behind, and shows none meanwhile.
    ///
    /// - Throws: an error of opening a file without a name, unless such files are unsupported.
    package func abilities() throws(FileError) -> FileSystemAbilities {
        let opened = AnonymousFile.canBeNamed ? AnonymousFile.open(in: descriptor.rawValue) : -EOPNOTSUPP
        guard opened >= 0 || AnonymousFile.isUnsupported(opened) else { throw error(-opened, "create a file in", ".") }
        defer { if opened >= 0 { close(opened) } }
        let hasLocks = opened >= 0 ? ByteRangeLock.attempt(opened, .whole, .exclusive) == 0 : nil
        var facts = statvfs()
        let type = clinux_file_system_type(descriptor.rawValue)
        guard type >= 0, fstatvfs(descriptor.rawValue, &facts) == 0 else {
            throw error(type < 0 ? Int32(-type) : errno, "examine the file system of", ".")
        }
        return FileSystemAbilities(
            hasNamelessFiles: opened >= 0, hasLocks: hasLocks,
            isRemote: Self.remoteTypes.contains(type),
            available: UInt64(facts.f_bavail) &* UInt64(facts.f_frsize))
    }

    /// NFS, SMB, SMB2, CIFS, AFS, Ceph, 9P and FUSE, by statfs(2).
    private static let remoteTypes: Set<Int64> = [
        0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x5346_414F, 0x00C3_6400, 0x0102_1997, 0x6573_5546,
    ]
}
