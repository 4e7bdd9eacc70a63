internal import CLinux
internal import SharedFiles

/// File systems that end with the machine's power.
enum MemoryFileSystem {
    /// `TMPFS_MAGIC` and `RAMFS_MAGIC` of statfs(2).
    private static let magics: Set<Int64> = [0x0102_1994, 0x8584_58F6]

    /// Whether a directory is in one; false where that cannot be told.
    static func holds(_ directory: Directory) -> Bool {
        magics.contains(clinux_file_system_type(directory.descriptor.rawValue))
    }
}
