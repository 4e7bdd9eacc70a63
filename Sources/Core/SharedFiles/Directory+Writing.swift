internal import CLinux
package import Glibc

extension Directory {
    /// Replaces a file's whole content: a reader sees the old value or the new one, also after a crash.
    ///
    /// The parent directory must exist. A link under the name is replaced itself, never followed; a directory is
    /// refused as `notRegularFile`. Two writers of one name need a lock around their whole read-change-write.
    /// - Parameters:
    ///   - mode: exact permission bits of the result, whatever the umask.
    ///   - group: unix group of the result; nil for what the directory gives it.
    ///   - durability: `.durable` answers when the value has reached the disk.
    /// - Throws: `durabilityUnknown` when the new value is in place but its name could not be synced. On every other
    ///   error the old value stands.
    package func replace(
        _ relative: String, with bytes: UnsafeRawBufferPointer, mode: mode_t, group: gid_t? = nil,
        durability: Durability, strategy: TemporaryStrategy = .automatic
    ) throws(FileError) {
        let file = try newFile(relative, holding: bytes, mode, group, strategy)
        try file.commit(replacing: true, durability: durability)
    }

    /// Creates a file with its whole content, durably, if the name is free; else `alreadyExists`. Of several racing
    /// creators exactly one wins, and nobody sees a part of the content.
    package func createExclusively(
        _ relative: String, with bytes: UnsafeRawBufferPointer, mode: mode_t, strategy: TemporaryStrategy = .automatic
    ) throws(FileError) {
        let file = try newFile(relative, holding: bytes, mode, nil, strategy)
        try file.commit(replacing: false, durability: .durable)
    }

    /// `replace` with the content in an array.
    package func replace(
        _ relative: String, with bytes: [UInt8], mode: mode_t, group: gid_t? = nil, durability: Durability,
        strategy: TemporaryStrategy = .automatic
    ) throws(FileError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(FileError) in
            try replace(
                relative, with: UnsafeRawBufferPointer(buffer), mode: mode, group: group, durability: durability,
                strategy: strategy)
        }
    }

    /// `createExclusively` with the content in an array.
    package func createExclusively(
        _ relative: String, with bytes: [UInt8], mode: mode_t, strategy: TemporaryStrategy = .automatic
    ) throws(FileError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(FileError) in
            try createExclusively(relative, with: UnsafeRawBufferPointer(buffer), mode: mode, strategy: strategy)
        }
    }

    /// Removes a file's name (or a link, never what it points to). A directory is refused as `notRegularFile`.
    ///
    /// - Throws: `durabilityUnknown` when the name is gone but its removal could not be synced.
    package func remove(_ relative: String, durability: Durability) throws(FileError) {
        let (parent, leaf) = try parent(of: relative, "remove")
        let result = uninterrupted { unlinkat(parent.descriptor.rawValue, leaf, 0) }
        if result < 0 { throw error(-result, "remove", relative) }
        if durability == .durable { try parent.sync(after: "remove", leaf) }
    }

    private func newFile(
        _ relative: String, holding bytes: UnsafeRawBufferPointer, _ mode: mode_t, _ group: gid_t?,
        _ strategy: TemporaryStrategy
    ) throws(FileError) -> NewFile {
        let (parent, leaf) = try parent(of: relative, "write")
        let file = try NewFile.create(in: parent, leaf: leaf, mode: mode, group: group, strategy: strategy)
        try file.reserve(Int64(bytes.count))
        try file.write(bytes)
        return file
    }
}

extension Directory {
    /// Adds bytes to a file's end in one write, making the file when it is missing, with exactly `mode` whatever the umask.
    /// Neither locked nor synced.
    ///
    /// Writes of one call are not mixed with those of other processes (`O_APPEND`, POSIX `write`); a power loss may cut
    /// the last one, so readers check each part.
    /// - Throws: `FileError`, `.notRegularFile` for anything but a regular file.
    package func append(_ relative: String, _ bytes: UnsafeRawBufferPointer, mode: mode_t) throws(FileError) {
        let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK
        let file = try openOrMake(relative, flags, mode: mode, "append to")
        guard try file.attributes().kind == .regular else {
            throw FileError(.notRegularFile, operation: "append to", path: display(relative))
        }
        try file.write(bytes)
    }
}

/// What a finished write has survived.
public enum Durability: Sendable, Hashable {
    /// On the disk: content, name and directory were synced. Survives a power loss, if the drive tells the truth.
    case durable
    /// In the system's cache: survives the process, not the machine. For values that can be made again.
    case unsynced
}

/// How a new value is kept out of sight while it is written.
package enum TemporaryStrategy: Sendable, Hashable, CaseIterable {
    /// `anonymous` where the file system and /proc allow it, else `named`.
    case automatic
    /// A file without a name (`O_TMPFILE`): a crash while writing leaves nothing at all.
    case anonymous
    /// A hidden file with a random name: a crash while writing leaves it, and the next write of that name removes it.
    case named
}
