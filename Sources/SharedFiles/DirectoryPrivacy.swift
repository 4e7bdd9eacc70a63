internal import CLinux
internal import Glibc

extension Directory {
    /// Refuses a directory that somebody else could change.
    ///
    /// - Parameter allowGroup: true where members of the directory's unix group share it.
    /// - Throws: `wrongOwner` unless it belongs to the effective user or root; `unsafeMode` where others (or the group,
    ///   unless allowed) may write. The advice is the command that mends it.
    package func requirePrivate(allowGroup: Bool) throws(FileError) {
        let facts = try attributes(".")
        if facts.uid != geteuid() && facts.uid != 0 {
            throw FileError(
                .wrongOwner, operation: "trust", path: display("."),
                advice: "Give it to the user who runs this: chown \(geteuid()) \(display(".").shellQuoted)")
        }
        let refused: mode_t = allowGroup ? S_IWOTH : S_IWOTH | S_IWGRP
        if facts.mode & refused != 0 {
            let change = allowGroup ? "o-w" : "go-w"
            throw FileError(
                .unsafeMode, operation: "trust", path: display("."),
                advice: "Take the permission away: chmod \(change) \(display(".").shellQuoted)")
        }
    }

    /// Refuses a directory whose name somebody else could replace.
    ///
    /// - Throws: for an ancestor, up to `/`: `wrongOwner` where it belongs neither to the effective user nor to root, for
    ///   an owner may rename whatever lies in a directory; `unsafeMode` where everybody may write it and it lacks the
    ///   sticky bit.
    package func requireSafeAncestors() throws(FileError) {
        var current = try ancestor(of: descriptor.rawValue)
        var last = try attributes(".")
        while true {
            let facts = try current.attributes()
            if facts.isSameFile(as: last) { return }
            try requireSafe(facts, at: current.rawValue)
            last = facts
            current = try ancestor(of: current.rawValue)
        }
    }

    private func requireSafe(_ facts: FileAttributes, at ancestor: Int32) throws(FileError) {
        let trusting = "trust what lies in"
        if !TrustedOwner.includes(facts.uid) {
            throw FileError(
                .wrongOwner, operation: trusting, path: location(of: ancestor),
                advice: "Run as its owner (uid \(facts.uid)), or choose another place with SEALED_GROUPS_HOME.")
        }
        if facts.mode & S_IWOTH != 0 && facts.mode & S_ISVTX == 0 {
            let name = location(of: ancestor)
            throw FileError(
                .unsafeMode, operation: trusting, path: name,
                advice: "Take the permission away: chmod o-w \(name.shellQuoted)")
        }
    }

    /// The real parent, not the path's: the way that a rename would have to take.
    private func ancestor(of directory: Int32) throws(FileError) -> Descriptor {
        let opened = uninterrupted { openat(directory, "..", clinux_o_path | O_DIRECTORY | O_CLOEXEC, 0) }
        if opened < 0 { throw error(-opened, "examine what lies above", ".") }
        return Descriptor(owning: opened, path: display("."))
    }

    private func location(of directory: Int32) -> String {
        let name = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { space in
                guard let start = space.baseAddress else { return }
                count = max(0, readlink("/proc/self/fd/\(directory)", start, space.count))
            }
        }
        return name.isEmpty ? "a directory above \(display("."))" : String(decoding: name, as: UTF8.self)
    }
}
