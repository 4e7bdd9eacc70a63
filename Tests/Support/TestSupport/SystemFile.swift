internal import Glibc

/// Plain file access for tests, deliberately without the safety that is tested.
package enum SystemFile {
    /// Returns the whole content.
    package static func read(_ path: String) throws -> [UInt8] {
        let file = try checked(open(path, O_RDONLY | O_CLOEXEC), "open \(path)")
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0 { throw SystemFailure("read \(path)") }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
        }
    }

    /// Creates or overwrites a file in place, with exactly this mode.
    package static func write(_ path: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws {
        let file = try checked(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode), "open \(path)")
        defer { close(file) }
        try checked(fchmod(file, mode), "fchmod \(path)")
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 { throw SystemFailure("write \(path)") }
            written += count
        }
    }

    /// Returns the names in a directory, sorted, including hidden ones.
    package static func names(_ path: String) throws -> [String] {
        guard let stream = opendir(path) else { throw SystemFailure("opendir \(path)") }
        defer { closedir(stream) }
        var names: [String] = []
        while let record = readdir(stream) {
            let start = UnsafeRawPointer(record) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 19)
            let name = String(cString: start.assumingMemoryBound(to: CChar.self))
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the permission bits of a name; for a link, its own.
    package static func mode(_ path: String) throws -> UInt32 {
        var status = stat()
        try checked(lstat(path, &status), "lstat \(path)")
        return status.st_mode & 0o7777
    }

    /// Returns `true` if the name exists, even as a dangling link.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Returns the target of a symbolic link.
    package static func linkTarget(_ path: String) throws -> String {
        var space = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &space, space.count)
        if count < 0 { throw SystemFailure("readlink \(path)") }
        return String(decoding: space[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
