internal import Glibc
internal import SharedFiles

/// What a symbolic link says, read without following it.
enum LinkTarget {
    /// The target's text; nil when it is gone or cannot be read.
    ///
    /// The link's directory is opened beneath the root first, so that a parent swapped for a link leads nowhere.
    static func read(_ path: String, in root: Directory) -> String? {
        let slash = path.lastIndex(of: "/")
        let leaf = slash.map { String(path[path.index(after: $0)...]) } ?? path
        do throws(FileError) {
            let parent = try root.directory(slash.map { String(path[..<$0]) } ?? ".")
            return text(leaf, parent.descriptor.rawValue)
        } catch {
            return nil
        }
    }

    /// Where an open directory is now, free of links; nil without /proc.
    static func location(of directory: Directory) -> String? {
        text("/proc/self/fd/\(directory.descriptor.rawValue)", AT_FDCWD)
    }

    private static func text(_ leaf: String, _ directory: Int32) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlinkat(directory, leaf, start, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }
}
