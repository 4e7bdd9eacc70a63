/// A step of a walk.
package struct WalkEntry: Sendable {
    /// The path below the directory where the walk began, as text; that directory itself is `.`.
    package let path: String
    /// The last segment as stored on the disk; it may be invalid UTF-8.
    package let nameBytes: [UInt8]
    /// 1 for an entry of the first directory.
    package let depth: Int
    /// The attributes, unless examining the entry failed.
    package let attributes: FileAttributes?
    /// The error that prevented examining or entering it: `tooDeep`, `permissionDenied`, …
    package let error: FileError?

    /// The entry's kind, `unknown` if examining failed.
    package var kind: FileKind { attributes?.kind ?? .unknown }

    /// `true` if the last segment is UTF-8. Only then does ``path`` name the entry.
    package var isText: Bool { path == "." || path.utf8.suffix(nameBytes.count).elementsEqual(nameBytes) }
}

extension Directory {
    /// Visits everything below this directory: each directory before its content, names in byte order.
    ///
    /// Links are visited, never followed; FIFOs, sockets and devices are visited, never opened. An entry that can't be
    /// examined or entered is visited with its error, and the walk continues. The walk holds one descriptor per level.
    /// - Parameter maximumDepth: entries of this directory have depth 1; a directory at the maximum is visited with
    ///   `tooDeep` and not entered.
    /// - Parameter omitted: The name of an entry of this directory that is not visited.
    package func walk<Failure: Error>(
        maximumDepth: Int, omitting omitted: String? = nil, _ visit: (WalkEntry) throws(Failure) -> Void
    ) throws(Failure) {
        try walk(prefix: "", depth: 1, maximumDepth, omitting: omitted, visit)
    }

    private func walk<Failure: Error>(
        prefix: String, depth: Int, _ maximumDepth: Int, omitting omitted: String? = nil,
        _ visit: (WalkEntry) throws(Failure) -> Void
    ) throws(Failure) {
        let names: [DirectoryEntry]
        do throws(FileError) {
            names = try entries()
        } catch {
            let path = prefix.isEmpty ? "." : String(prefix.dropLast())
            let attributes = try? descriptor.attributes()
            try visit(WalkEntry(path: path, nameBytes: [], depth: depth - 1, attributes: attributes, error: error))
            return
        }
        for name in names where name.name != omitted {
            try walk(into: name, prefix: prefix, depth: depth, maximumDepth, visit)
        }
    }

    private func walk<Failure: Error>(
        into name: DirectoryEntry, prefix: String, depth: Int, _ maximumDepth: Int,
        _ visit: (WalkEntry) throws(Failure) -> Void
    ) throws(Failure) {
        var attributes: FileAttributes?
        var child: Directory?
        var failure: FileError?
        do throws(FileError) {
            attributes = try self.attributes(ofName: name.nameBytes)
            if attributes?.kind == .directory {
                if depth >= maximumDepth { throw FileError(.tooDeep, operation: "enter", path: display(name.name)) }
                child = try directory(name.name)
            }
        } catch {
            // Removed since the listing, so not visited.
            if error.code == .notFound && attributes == nil { return }
            failure = error
        }
        let path = prefix + name.name
        try visit(
            WalkEntry(path: path, nameBytes: name.nameBytes, depth: depth, attributes: attributes, error: failure))
        try child?.walk(prefix: path + "/", depth: depth + 1, maximumDepth, visit)
    }
}
