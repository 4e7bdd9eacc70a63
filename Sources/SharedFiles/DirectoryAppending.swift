internal import CLinux
package import Glibc

extension Directory {
    /// Adds bytes to a file's end in one write, making the file when it is missing. Neither locked nor synced.
    ///
    /// Writes of one call are not mixed with those of other processes (`O_APPEND`, POSIX `write`); a power loss may cut
    /// the last one, so readers check each part.
    /// - Throws: `FileError`, `.notRegularFile` for anything but a regular file.
    package func append(_ relative: String, _ bytes: UnsafeRawBufferPointer, mode: mode_t) throws(FileError) {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK
        let opened = openBeneath(descriptor.rawValue, relative, flags, mode: mode)
        if opened < 0 { throw error(-opened, "append to", relative) }
        let file = Descriptor(owning: opened, path: display(relative))
        guard try file.attributes().kind == .regular else {
            throw FileError(.notRegularFile, operation: "append to", path: display(relative))
        }
        try file.write(bytes)
    }
}
