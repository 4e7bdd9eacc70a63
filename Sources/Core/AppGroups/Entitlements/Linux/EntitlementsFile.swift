internal import Glibc
internal import SharedFiles

/// An entitlements file at a path.
struct EntitlementsFile {
    static let largest = 1 << 20

    let path: String

    /// Returns the file's bytes, with any owner.
    ///
    /// Links in the parents are followed; the file itself must be regular and not a link. The call does not wait for a
    /// FIFO.
    /// - Throws: `FileError`, `tooLarge` above ``largest``; `notRegularFile`; `unsafePath` for a link.
    func read() throws(FileError) -> [UInt8] {
        let file = try open()
        return try readAll(of: file, size: try file.attributes().size)
    }

    /// Returns the file's bytes if only the effective user and root may write it.
    ///
    /// The directories above are not checked: a user who may write those may replace the program itself.
    /// - Throws: as ``read()``; `wrongOwner`, `unsafeMode`.
    func readTrusted() throws(FileError) -> [UInt8] {
        let file = try open()
        // Of the open file: the name may refer to another one by now.
        let facts = try file.attributes()
        try requireOnlyWrittenByUser(facts)
        return try readAll(of: file, size: facts.size)
    }

    /// Not through an open directory: the user may have search but not read permission on the program's directory.
    private func open() throws(FileError) -> Descriptor {
        guard !path.utf8.contains(0) else { throw FileError(.invalidName, operation: "open", path: path) }
        let opened = openForReading(path)
        guard opened >= 0 else { throw FileError(errno: -opened, operation: "open", path: path) }
        let file = Descriptor(owning: opened, path: path)
        guard try file.attributes().kind == .regular else {
            throw FileError(.notRegularFile, operation: "open", path: path)
        }
        return file
    }

    private func openForReading(_ path: String) -> Int32 {
        while true {
            let opened = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY)
            if opened >= 0 { return opened }
            if errno != EINTR { return -errno }
        }
    }

    private func readAll(of file: borrowing Descriptor, size: Int64) throws(FileError) -> [UInt8] {
        guard size <= Self.largest else { throw FileError(.tooLarge, operation: "read", path: path) }
        var fault: FileError?
        // The limit, not the size, so that a file that grows meanwhile is read to its end. Only filled bytes take
        // memory.
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.largest + 1) { buffer, count in
            do throws(FileError) { count = try file.read(into: UnsafeMutableRawBufferPointer(buffer)) } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        guard bytes.count <= Self.largest else { throw FileError(.tooLarge, operation: "read", path: path) }
        return bytes
    }

    private func requireOnlyWrittenByUser(_ facts: FileAttributes) throws(FileError) {
        guard facts.uid == geteuid() || facts.uid == 0 else {
            throw FileError(
                .wrongOwner, operation: "trust", path: path,
                advice: "Its owner must be the user who runs the program, or root: ls -l \(path.shellQuoted)")
        }
        guard facts.mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw FileError(
                .unsafeMode, operation: "trust", path: path,
                advice: "As its owner, remove the write permission of other users: chmod go-w \(path.shellQuoted)")
        }
    }
}

/// The variables that select this program's entitlements.
enum EntitlementEnvironment {
    /// The path of an entitlements file; absolute.
    static let file = "SEALED_ENTITLEMENTS"
    /// The value of the team identifier for build settings in the file.
    static let team = "SEALED_TEAM_ID"
    /// The value of the bundle identifier for build settings in the file.
    static let bundle = "SEALED_BUNDLE_ID"

    /// Returns the variables that are set in this process.
    ///
    /// Returns none in a program with more rights than its caller, who could otherwise choose its groups.
    /// - Throws: ``AppGroupError`` with `unusableEntitlements` for a value that is not UTF-8.
    static func read() throws(AppGroupError) -> [String: String] {
        var values: [String: String] = [:]
        // Checked as well: a program may have changed its ids after its start.
        guard getuid() == geteuid(), getgid() == getegid() else { return values }
        for name in [file, team, bundle] {
            guard let pointer = SecureEnvironment.value(name) else { continue }
            guard let value = String(validatingCString: pointer) else { throw .unreadableVariable(name) }
            values[name] = value
        }
        return values
    }
}
