internal import Glibc

/// Where this program's executable lies.
enum ProgramPath {
    private static let link = "/proc/self/exe"
    /// What the kernel adds to the path of a file that has lost its name (proc_pid_exe(5)).
    private static let deletedMark = " (deleted)"

    /// What `/proc/self/exe` points to; nil where there is no `/proc`.
    ///
    /// A program whose file was replaced while it runs, as an update does it, still lies where it lay.
    /// - Throws: ``AppGroupError`` with `unusableEntitlements` for a path that is not UTF-8: repairing it would name another.
    static func read() throws(AppGroupError) -> String? {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { space in
                space.baseAddress.map { max(0, readlink(link, $0, space.count)) } ?? 0
            }
        }
        guard !bytes.isEmpty else { return nil }
        guard let path = String(validating: bytes, as: UTF8.self) else { throw .unreadableExecutablePath() }
        let isGone = path.hasSuffix(deletedMark) && access(path, F_OK) != 0
        return isGone ? String(path.dropLast(deletedMark.count)) : path
    }
}
