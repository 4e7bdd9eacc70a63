package import Glibc

/// The kind of a directory entry.
package enum FileKind: String, Sendable, Hashable {
    case regular, directory, symbolicLink, fifo, socket, characterDevice, blockDevice, unknown

    package init(mode: mode_t) {
        self =
            switch mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .fifo
            case S_IFSOCK: .socket
            case S_IFCHR: .characterDevice
            case S_IFBLK: .blockDevice
            default: .unknown
            }
    }
}

/// The attributes of an inode at one moment.
package struct FileAttributes: Sendable, Hashable {
    /// The kind; that of the link itself for a link.
    package let kind: FileKind
    /// Permission bits with set-id and sticky: `0o7777` at most.
    package let mode: mode_t
    /// Owner.
    package let uid: uid_t
    /// Group.
    package let gid: gid_t
    /// Bytes.
    package let size: Int64
    /// Allocated bytes on the file system; fewer than `size` if the file has holes.
    package let allocatedSize: Int64
    /// Number of hard links.
    package let nlink: UInt64
    /// Number of the inode, unique with `device` while the file exists.
    package let inode: UInt64
    /// Device of the file system.
    package let device: UInt64
    /// Last change of the content, in whole seconds since 1970; negative before.
    package let modifiedSeconds: Int64
    /// The part of that time behind the second.
    package let modifiedSubsecond: Int

    /// Last change of the content, in nanoseconds since 1970; 64 bits reach the year 2262.
    package var modifiedNanoseconds: Int64 { modifiedSeconds &* 1_000_000_000 &+ Int64(modifiedSubsecond) }

    package init(_ status: stat) {
        kind = FileKind(mode: status.st_mode)
        mode = status.st_mode & 0o7777
        uid = status.st_uid
        gid = status.st_gid
        size = Int64(status.st_size)
        allocatedSize = Int64(status.st_blocks) * 512
        nlink = UInt64(status.st_nlink)
        inode = UInt64(status.st_ino)
        device = UInt64(status.st_dev)
        modifiedSeconds = Int64(status.st_mtim.tv_sec)
        modifiedSubsecond = status.st_mtim.tv_nsec
    }

    /// The attributes of the file that has a name now, or of a link itself, after a single look; nil if that fails.
    package init?(ofName path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Whether it is a directory of this user or of root that no other user may write to, as `Directory.openOwn` demands.
    package var isOwnDirectory: Bool {
        kind == .directory && (uid == 0 || uid == geteuid()) && mode & (S_IWOTH | S_IWGRP) == 0
    }

    /// Returns whether both describe the same file.
    package func isSameFile(as other: FileAttributes) -> Bool {
        inode == other.inode && device == other.device
    }
}

/// The state of a file at one moment, which shows later whether the file was written or renamed since.
package struct FileMoment: Sendable {
    /// The file's attributes.
    package let attributes: FileAttributes
    /// Last change of the content or of the inode, in nanoseconds since 1970. No program can set it.
    private let changedNanoseconds: Int64

    init(_ status: stat) {
        attributes = FileAttributes(status)
        changedNanoseconds = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    }

    /// Returns whether both are of one file that was not touched in between, within the resolution of its file system's
    /// clock.
    package func isUntouched(since earlier: FileMoment) -> Bool {
        isUnwritten(since: earlier) && changedNanoseconds == earlier.changedNanoseconds
    }

    /// Returns the same, but allows a rename.
    package func isUnwritten(since earlier: FileMoment) -> Bool {
        let (now, then) = (attributes, earlier.attributes)
        return now.isSameFile(as: then) && now.size == then.size && now.nlink == then.nlink
            && now.modifiedNanoseconds == then.modifiedNanoseconds
    }
}

extension Descriptor {
    /// Returns the current moment of the open file.
    package func moment() throws(FileError) -> FileMoment {
        var status = stat()
        if fstat(rawValue, &status) < 0 { throw FileError(errno: errno, operation: "examine", path: path) }
        return FileMoment(status)
    }
}

extension Directory {
    /// Returns the current moment of the file with that name. A final link is not followed.
    package func moment(ofLeaf leaf: String) throws(FileError) -> FileMoment {
        var status = stat()
        let result = uninterrupted { fstatat(descriptor.rawValue, leaf, &status, AT_SYMLINK_NOFOLLOW) }
        if result < 0 { throw error(-result, "examine", leaf) }
        return FileMoment(status)
    }
}
