internal import CLinux
package import SharedFiles

/// File systems that end with the machine's power.
package enum MemoryFileSystem {
    /// `TMPFS_MAGIC` and `RAMFS_MAGIC` of statfs(2).
    private static let magics: Set<Int64> = [0x0102_1994, 0x8584_58F6]

    /// Whether a directory is in one; false where that cannot be told.
    package static func holds(_ directory: Directory) -> Bool {
        magics.contains(clinux_file_system_type(directory.descriptor.rawValue))
    }
}
