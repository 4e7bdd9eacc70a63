internal import Glibc

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
