internal import CLinux
package import Glibc

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
