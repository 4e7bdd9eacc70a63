internal import Glibc

/// What a file was at one moment: enough to see later whether somebody wrote it, or gave it another name, since.
package struct FileMoment: Sendable {
    /// Its facts.
    package let attributes: FileAttributes
    /// Last change of the content or of the inode, in nanoseconds since 1970. No program can set it.
    private let changedNanoseconds: Int64

    init(_ status: stat) {
        attributes = FileAttributes(status)
        changedNanoseconds = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    }

    /// Whether both are of one file to which nothing at all was done in between, as far as the clock of its file system tells.
    package func isUntouched(since earlier: FileMoment) -> Bool {
        isUnwritten(since: earlier) && changedNanoseconds == earlier.changedNanoseconds
    }

    /// The same, but it may have been renamed.
    package func isUnwritten(since earlier: FileMoment) -> Bool {
        let (now, then) = (attributes, earlier.attributes)
        return now.isSameFile(as: then) && now.size == then.size && now.nlink == then.nlink
            && now.modifiedNanoseconds == then.modifiedNanoseconds
    }
}

extension Descriptor {
    /// What the open file is now.
    package func moment() throws(FileError) -> FileMoment {
        var status = stat()
        if fstat(rawValue, &status) < 0 { throw FileError(errno: errno, operation: "examine", path: path) }
        return FileMoment(status)
    }
}

extension Directory {
    /// What the file is now that has the name. A final link is not followed.
    package func moment(ofLeaf leaf: String) throws(FileError) -> FileMoment {
        var status = stat()
        let result = uninterrupted { fstatat(descriptor.rawValue, leaf, &status, AT_SYMLINK_NOFOLLOW) }
        if result < 0 { throw error(-result, "examine", leaf) }
        return FileMoment(status)
    }
}
