internal import Glibc
internal import SystemPackage

extension Directory {
    /// Removes what has a name in this directory, with everything below it. Links are removed, never followed.
    ///
    /// It holds one descriptor per level. What another process adds meanwhile makes it fail with `io` (`ENOTEMPTY`).
    /// - Throws: `FileError`: the first thing that could not be removed; what was removed before it is gone. `.tooDeep`
    ///   below 256 levels.
    package func removeTree(_ name: String) throws(FileError) {
        _ = try LeafName(name)
        try removeTree(Array(name.utf8), depth: 0)
        try sync(after: "remove", name)
    }

    private func removeTree(_ name: [UInt8], depth: Int) throws(FileError) {
        let shown = String(decoding: name, as: UTF8.self)
        if depth > 256 { throw FileError(.tooDeep, operation: "remove", path: display(shown)) }
        let path = (name + [0]).map { CChar(bitPattern: $0) }
        let unlinked = uninterrupted { unlinkat(descriptor.rawValue, path, 0) }
        if unlinked == 0 || unlinked == -ENOENT { return }
        // A directory answers EISDIR on Linux, EPERM by POSIX; of anything else that is the refusal itself.
        guard try attributes(ofName: name).kind == .directory else { throw error(-unlinked, "remove", shown) }
        let child = try openToRemove(path, shown)
        for entry in try child.entries() { try child.removeTree(entry.nameBytes, depth: depth + 1) }
        let removed = uninterrupted { unlinkat(descriptor.rawValue, path, AT_REMOVEDIR) }
        if removed < 0 && removed != -ENOENT { throw error(-removed, "remove", shown) }
    }

    /// By its bytes: in somebody's tree names need not be text.
    private func openToRemove(_ path: [CChar], _ shown: String) throws(FileError) -> Directory {
        let opened = uninterrupted {
            openat(descriptor.rawValue, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        }
        if opened < 0 { throw error(-opened, "remove", shown) }
        return Directory(path: self.path.appending(shown), owning: opened)
    }
}
