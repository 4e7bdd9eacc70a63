internal import CLinux
internal import Glibc

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
        let (opened, size) = try openContent(relative)
        defer { close(opened) }
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
        let (opened, size) = try openContent(relative)
        defer { close(opened) }
        return (try read(opened, relative, offset: 0, count: min(count, Int(size))), size)
    }

    /// Returns the attributes of a name. A final link is not followed; `.` is the directory itself.
    package func attributes(_ relative: String) throws(FileError) -> FileAttributes {
        if relative == "." { return try descriptor.attributes() }
        let (parent, leaf) = try parent(of: relative, "examine")
        return try parent.attributes(ofLeaf: leaf)
    }

    package func attributes(ofLeaf leaf: UnsafePointer<CChar>) throws(FileError) -> FileAttributes {
        var status = stat()
        let result = uninterrupted { fstatat(descriptor.rawValue, leaf, &status, AT_SYMLINK_NOFOLLOW) }
        if result < 0 { throw error(-result, "examine", String(cString: leaf)) }
        return FileAttributes(status)
    }

    /// Returns the open file and its size; the caller closes it.
    private func openContent(_ relative: String) throws(FileError) -> (descriptor: Int32, size: Int64) {
        try RelativePath.check(relative, "open", in: self)
        let opened = openToRead(relative, contentFlags)
        if opened < 0 { throw error(-opened, "open", relative) }
        var status = stat()
        let number = fstat(opened, &status) < 0 ? errno : 0
        if number == 0 && status.st_mode & S_IFMT == S_IFREG { return (opened, Int64(status.st_size)) }
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

extension Directory {
    /// Returns the same directory for inspection: files opened, listed and read through it keep their access times.
    ///
    /// `O_NOATIME` of open(2) requires the file's owner or root. For other users the system may update the access time.
    package func withoutTrace() throws(FileError) -> Directory {
        let opened = tracelessly(".", directoryFlags)
        if opened < 0 { throw error(-opened, "open the directory", ".") }
        return Directory(path: path, owning: opened, leavesNoTrace: true)
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
