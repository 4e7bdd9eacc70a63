internal import Glibc
internal import SystemPackage

/// The directory that relative paths of this process begin at.
enum WorkingDirectory {
    /// Its path; `nil` where it has been deleted or can't be reached.
    static func path() -> FilePath? {
        // glibc allocates as much as the path needs when it is given no buffer.
        guard let text = getcwd(nil, 0) else { return nil }
        defer { free(text) }
        return FilePath(platformString: text)
    }
}
