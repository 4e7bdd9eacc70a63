internal import SharedFiles

extension AccessLogFile {
    /// The file, of the two, that begins.
    enum Beginning {
        case older, current
    }

    private static let entriesAtOnce = 256

    /// Passes the entries of the older file, then those of the current one, to `body`, each with the code before it.
    ///
    /// - Parameters:
    ///   - body: Gets 288 bytes: the code before, then the entry. A file's first entry is preceded by the code that it
    ///     contains, if it continues another file, else by zeros. Also gets the file that begins with the entry, if
    ///     any.
    ///   - endOfFile: Gets the number of bytes after the last whole entry.
    /// - Throws: `FileError`, `.tooLarge` for a file larger than a log can grow. A missing log is no error.
    func forEachEntry(
        _ body: (UnsafeRawBufferPointer, Beginning?) -> Void, atEnd endOfFile: (_ remainder: Int) -> Void
    ) throws(FileError) {
        let files = try openFiles()
        if let file = files.older { try forEachEntry(of: file, .older, body, endOfFile) }
        if let file = files.current { try forEachEntry(of: file, .current, body, endOfFile) }
    }

    private struct Files: ~Copyable {
        var older: Descriptor?
        var current: Descriptor?
    }

    /// Opens both files as of one moment: a roll-over between the two openings would repeat entries or omit them.
    private func openFiles() throws(FileError) -> Files {
        for _ in 0..<8 {
            let files = Files(older: try openIfThere(Self.olderLeaf), current: try openIfThere(Self.leaf))
            let (older, current) = (try files.older?.attributes(), try files.current?.attributes())
            // An interrupted roll-over leaves one file with both names.
            if let older, let current, older.isSameFile(as: current) {
                return Files(older: files.older, current: nil)
            }
            // The older name changes before the current one, so if the current one is unchanged, both were.
            let isOlderNamed = try isNamed(Self.olderLeaf, older)
            let isCurrentNamed = try isNamed(Self.leaf, current)
            if isOlderNamed && isCurrentNamed { return files }
        }
        throw FileError(
            .lockTimeout, operation: "read", path: directory.display(Self.leaf),
            advice: "It rolled over repeatedly while it was read; try again.")
    }

    private func openIfThere(_ leaf: String) throws(FileError) -> Descriptor? {
        do throws(FileError) { return try directory.openForReading(leaf) } catch {
            if error.code == .notFound { return nil }
            throw error
        }
    }

    private func isNamed(_ leaf: String, _ file: FileAttributes?) throws(FileError) -> Bool {
        do throws(FileError) {
            let named = try directory.attributes(leaf)
            return file.map { named.isSameFile(as: $0) } ?? false
        } catch {
            if error.code == .notFound { return file == nil }
            throw error
        }
    }

    private func forEachEntry(
        of file: borrowing Descriptor, _ which: Beginning, _ body: (UnsafeRawBufferPointer, Beginning?) -> Void,
        _ endOfFile: (Int) -> Void
    ) throws(FileError) {
        let (size, lead, entriesAtOnce) = (AccessEntryLayout.size, AccessEntryLayout.codeSize, Self.entriesAtOnce)
        let leaf = which == .older ? Self.olderLeaf : Self.leaf
        try requireBearable(size: file.attributes().size, leaf, "read")
        try withUnsafeTemporaryAllocation(byteCount: lead + entriesAtOnce * size, alignment: 8) {
            (space: UnsafeMutableRawBufferPointer) throws(FileError) in
            var offset: Int64 = 0
            while true {
                let count = try file.pread(into: space.part(lead, entriesAtOnce * size), at: offset)
                if offset == 0 && count >= size { Self.leadIn(space) }
                for start in stride(from: 0, to: count - count % size, by: size) {
                    let isFirst = offset == 0 && start == 0
                    body(UnsafeRawBufferPointer(space.part(start, lead + size)), isFirst ? which : nil)
                }
                if count < entriesAtOnce * size { return endOfFile(count % size) }
                space.part(0, lead).copyMemory(from: UnsafeRawBufferPointer(space.part(count, lead)))
                offset += Int64(count)
                // The file may have grown since it was opened.
                try requireBearable(size: offset, leaf, "read")
            }
        }
    }

    /// Writes the code that precedes a file's first entry in front of it.
    private static func leadIn(_ space: UnsafeMutableRawBufferPointer) {
        typealias Layout = AccessEntryLayout
        let first = UnsafeRawBufferPointer(space.part(Layout.codeSize, Layout.size))
        let continues = AccessEvent(rawValue: first.number(at: Layout.event)) == .continued
        let before = space.part(0, Layout.codeSize)
        if continues {
            before.copyMemory(from: first.part(Layout.executable, Layout.codeSize))
        } else {
            before.initializeMemory(as: UInt8.self, repeating: 0)
        }
    }
}
