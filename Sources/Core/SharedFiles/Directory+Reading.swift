internal import CLinux
package import Glibc

extension Directory {
    /// Opens a regular file for reading. Rejects any other file as `notRegularFile`, without blocking on it.
    package func openForReading(_ relative: String) throws(FileError) -> Descriptor {
        let (opened, _) = try openContent(relative)
        return Descriptor(owning: opened, path: display(relative))
    }

    /// Reads a whole regular file.
    ///
    /// - Parameter limit: a larger file is rejected as `tooLarge`, before anything is allocated. A file that grows
    ///   meanwhile is read up to the limit; one that shrinks returns the rest.
    package func read(_ relative: String, limit: Int) throws(FileError) -> [UInt8] {
        let (opened, status) = try openContent(relative)
        defer { close(opened) }
        return try content(of: opened, Int64(status.st_size), relative, limit)
    }

    /// Reads a whole regular file and holds it open.
    package func hold(_ relative: String, limit: Int) throws(FileError) -> HeldContent {
        let (opened, status) = try openContent(relative)
        do throws(FileError) {
            return HeldContent(try content(of: opened, Int64(status.st_size), relative, limit), opened, status)
        } catch {
            close(opened)
            throw error
        }
    }

    private func content(
        of opened: Int32, _ size: Int64, _ relative: String, _ limit: Int
    ) throws(FileError) -> [UInt8] {
        if size > limit { throw FileError(.tooLarge, operation: "read", path: display(relative)) }
        // One byte more than expected: a short read shows the end, so the common case is a single call.
        var bytes = try read(opened, relative, offset: 0, count: Int(size) + 1, end: Int(size))
        while bytes.count > Int(size) && bytes.count <= limit {
            let more = try read(opened, relative, offset: bytes.count, count: min(limit - bytes.count + 1, 1 << 20))
            if more.isEmpty { return bytes }
            bytes += more
        }
        if bytes.count > limit { throw FileError(.tooLarge, operation: "read", path: display(relative)) }
        return bytes
    }

    /// Reads at most the first `count` bytes of a regular file; returns them with the file's size.
    package func readPrefix(_ relative: String, count: Int) throws(FileError) -> (bytes: [UInt8], size: Int64) {
        let (opened, status) = try openContent(relative)
        defer { close(opened) }
        let size = Int64(status.st_size)
        return (try read(opened, relative, offset: 0, count: min(count, Int(size))), size)
    }

    /// Returns the attributes of a name. A final link is not followed; `.` is the directory itself.
    package func attributes(_ relative: String) throws(FileError) -> FileAttributes {
        if relative == "." { return try descriptor.attributes() }
        let (parent, leaf) = try parent(of: relative, "examine")
        return try parent.attributes(ofLeaf: leaf)
    }

    package func attributes(ofLeaf leaf: UnsafePointer<CChar>) throws(FileError) -> FileAttributes {
        if let attributes = try presentAttributes(ofLeaf: leaf) { return attributes }
        throw error(ENOENT, "examine", String(cString: leaf))
    }

    /// Returns the attributes of a name; nil if it is missing. That costs no text of an error, which would be longer
    /// than the look.
    package func presentAttributes(_ relative: String) throws(FileError) -> FileAttributes? {
        if relative == "." { return try descriptor.attributes() }
        do throws(FileError) {
            let (parent, leaf) = try parent(of: relative, "examine")
            return try parent.presentAttributes(ofLeaf: leaf)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    private func presentAttributes(ofLeaf leaf: UnsafePointer<CChar>) throws(FileError) -> FileAttributes? {
        var status = stat()
        let result = uninterrupted { fstatat(descriptor.rawValue, leaf, &status, AT_SYMLINK_NOFOLLOW) }
        if result == -ENOENT { return nil }
        if result < 0 { throw error(-result, "examine", String(cString: leaf)) }
        return FileAttributes(status)
    }

    /// Returns the open file and its attributes; the caller closes it.
    private func openContent(_ relative: String) throws(FileError) -> (descriptor: Int32, status: stat) {
        try RelativePath.check(relative, "open", in: self)
        let opened = openToRead(relative, contentFlags)
        if opened < 0 { throw error(-opened, "open", relative) }
        var status = stat()
        let number = fstat(opened, &status) < 0 ? errno : 0
        if number == 0 && status.st_mode & S_IFMT == S_IFREG { return (opened, status) }
        close(opened)
        if number != 0 { throw error(number, "examine", relative) }
        throw FileError(.notRegularFile, operation: "open", path: display(relative))
    }

    private func read(
        _ file: Int32, _ relative: String, offset: Int, count: Int, end: Int = 0
    ) throws(FileError) -> [UInt8] {
        var result = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let space = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
            result = preadFully(file, space, Int64(offset), end: end)
            initialized = max(result, 0)
        }
        if result < 0 { throw error(Int32(-result), "read", relative) }
        return bytes
    }
}

/// The content of a regular file that is held open: while it is, no other file can have its inode number, so one lookup
/// of the name shows whether it still names this file.
package struct HeldContent: ~Copyable, Sendable {
    package let bytes: [UInt8]
    private let file: Int32
    private let identity: Identity

    /// The attributes that no change of a file preserves. Only the system sets the time of an inode's last change;
    /// writing into the file in place changes it as well.
    private struct Identity: Equatable {
        let device: dev_t
        let inode: ino_t
        let changedSeconds: Int
        let changedNanoseconds: Int

        init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
            changedSeconds = status.st_ctim.tv_sec
            changedNanoseconds = status.st_ctim.tv_nsec
        }
    }

    fileprivate init(_ bytes: [UInt8], _ file: Int32, _ status: stat) {
        self.bytes = bytes
        self.file = file
        identity = Identity(status)
    }

    deinit { close(file) }

    /// Returns `true` if a name still denotes this file, unchanged. Links in the path above it are followed. That is
    /// harmless, since only the file that was opened without them counts.
    package func isNamed(_ relative: String, in directory: Directory) -> Bool {
        var status = stat()
        let result = relative.withCString { fstatat(directory.descriptor.rawValue, $0, &status, AT_SYMLINK_NOFOLLOW) }
        return result == 0 && Identity(status) == identity
    }
}

extension Directory {
    /// Returns the same directory for inspection: files opened, listed and read through it keep their access times.
    ///
    /// `O_NOATIME` of open(2) requires the file's owner or root. For other users the system may update the access time.
    package func withoutTrace() throws(FileError) -> Directory {
        let opened = tracelessly(".", directoryFlags)
        if opened < 0 { throw error(-opened, "open the directory", ".") }
        return Directory(path: descriptor.path, owning: opened, leavesNoTrace: true)
    }

    /// Opens below this directory for reading, as `openBeneath` does.
    func openToRead(_ relative: String, _ flags: Int32) -> Int32 {
        leavesNoTrace ? tracelessly(relative, flags) : openBeneath(descriptor.rawValue, relative, flags)
    }

    private func tracelessly(_ relative: String, _ flags: Int32) -> Int32 {
        let opened = openBeneath(descriptor.rawValue, relative, flags | clinux_o_noatime)
        // Another user's file: only that flag is refused with this number.
        return opened == -EPERM ? openBeneath(descriptor.rawValue, relative, flags) : opened
    }
}

extension Directory {
    /// Replaces a file's whole content: a reader gets the old value or the new one, also after a crash.
    ///
    /// The parent directory must exist. A link under the name is replaced itself, never followed; a directory is
    /// rejected as `notRegularFile`. Two writers of one name need a lock around their whole read-change-write.
    /// - Parameters:
    ///   - mode: exact permission bits of the result, regardless of the umask.
    ///   - group: unix group of the result; nil for the directory's default.
    ///   - durability: `.durable` returns when the value has reached the disk.
    /// - Throws: `durabilityUnknown` when the new value is in place but its name could not be synced. On every other
    ///   error the old value remains.
    package func replace(
        _ relative: String, with bytes: UnsafeRawBufferPointer, mode: mode_t, group: gid_t? = nil,
        durability: Durability, strategy: TemporaryStrategy = .automatic
    ) throws(FileError) {
        let file = try newFile(relative, holding: bytes, mode, group, strategy)
        try file.commit(replacing: true, durability: durability)
    }

    /// Creates a file with its whole content, durably, if the name is free; else throws `alreadyExists`. Of several
    /// racing creators exactly one succeeds, and no reader sees partial content.
    package func createExclusively(
        _ relative: String, with bytes: UnsafeRawBufferPointer, mode: mode_t, strategy: TemporaryStrategy = .automatic
    ) throws(FileError) {
        let file = try newFile(relative, holding: bytes, mode, nil, strategy)
        try file.commit(replacing: false, durability: .durable)
    }

    /// Does the same as `replace` for an array.
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

    /// Does the same as `createExclusively` for an array.
    package func createExclusively(
        _ relative: String, with bytes: [UInt8], mode: mode_t, strategy: TemporaryStrategy = .automatic
    ) throws(FileError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(FileError) in
            try createExclusively(relative, with: UnsafeRawBufferPointer(buffer), mode: mode, strategy: strategy)
        }
    }

    /// Removes a file's name (or a link, never its target). A directory is rejected as `notRegularFile`.
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
    /// Appends bytes to a file in one write; creates the file with exactly `mode`, regardless of the umask, if it is
    /// missing. Neither locks nor syncs.
    ///
    /// Writes of one call are not mixed with those of other processes (`O_APPEND`, POSIX `write`). A power loss may
    /// truncate the last one, so readers check each part.
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

/// The durability of a finished write.
public enum Durability: Sendable, Hashable {
    /// On the disk: content, name and directory were synced. Survives a power loss, if the drive reports writes
    /// correctly.
    case durable
    /// In the system's cache: survives the process, not the machine. For values that can be recreated.
    case unsynced
}

/// The way in which a new value stays invisible while it is written.
package enum TemporaryStrategy: Sendable, Hashable, CaseIterable {
    /// `anonymous` where the file system and /proc allow it, else `named`.
    case automatic
    /// A file without a name (`O_TMPFILE`): a crash during the write leaves no file.
    case anonymous
    /// A hidden file with a random name: a crash while writing leaves it, and the next write of that name removes it.
    case named
}

/// An entry of a directory.
package struct DirectoryEntry: Sendable, Hashable {
    /// The name's bytes; Linux allows any but `/` and NUL.
    package let nameBytes: [UInt8]
    /// The name as text; invalid UTF-8 shows as U+FFFD, and such a name can't be opened through this.
    package let name: String
    /// The entry's kind; a link is not followed.
    package let kind: FileKind

    init(nameBytes: [UInt8], kind: FileKind) {
        self.nameBytes = nameBytes
        name = String(decoding: nameBytes, as: UTF8.self)
        self.kind = kind
    }
}

extension Directory {
    /// Returns every name in this directory except `.` and `..`, sorted by bytes.
    package func entries() throws(FileError) -> [DirectoryEntry] {
        // A separate description: two listings must not share a position.
        let opened = openToRead(".", directoryFlags)
        if opened < 0 { throw error(-opened, "list", ".") }
        guard let stream = fdopendir(opened) else {
            let number = errno
            close(opened)
            throw error(number, "list", ".")
        }
        defer { closedir(stream) }
        var entries: [DirectoryEntry] = []
        while let entry = try nextEntry(stream) { entries.append(entry) }
        return entries.sorted { $0.nameBytes.lexicographicallyPrecedes($1.nameBytes) }
    }

    private func nextEntry(_ stream: OpaquePointer) throws(FileError) -> DirectoryEntry? {
        while true {
            errno = 0
            guard let record = readdir(stream) else {
                if errno != 0 { throw error(errno, "list", ".") }
                return nil
            }
            let name = Self.name(of: record)
            if name == [0x2E] || name == [0x2E, 0x2E] { continue }
            // Skips a name that vanished after the listing.
            guard let kind = kind(of: name, record.pointee.d_type) else { continue }
            return DirectoryEntry(nameBytes: name, kind: kind)
        }
    }

    private static func name(of record: UnsafeMutablePointer<dirent>) -> [UInt8] {
        // Counted in place: the record may be shorter than the struct that describes it.
        let start = UnsafeRawPointer(record) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 19)
        let length = strlen(start.assumingMemoryBound(to: CChar.self))
        return [UInt8](UnsafeRawBufferPointer(start: start, count: length))
    }

    private func kind(of name: [UInt8], _ type: UInt8) -> FileKind? {
        let known = FileKind(mode: mode_t(type) << 12)
        if known != .unknown { return known }
        do {
            return try attributes(ofName: name).kind
        } catch {
            return error.code == .notFound ? nil : .unknown
        }
    }

    func attributes(ofName name: [UInt8]) throws(FileError) -> FileAttributes {
        try attributes(ofLeaf: (name + [0]).map { CChar(bitPattern: $0) })
    }
}
