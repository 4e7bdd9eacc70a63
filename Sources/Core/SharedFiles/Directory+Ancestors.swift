internal import CLinux
package import Glibc

extension Directory {
    /// Rejects a directory whose name an untrusted user could replace, or could have created first.
    ///
    /// The requirements for every ancestor, up to `/`:
    /// - It belongs to the effective user or root, since an owner may rename all entries of a directory; or it is
    ///   shared with a unix group of this process.
    /// - It is not writable for all users, unless it has the sticky bit.
    /// - If it contains another user's shared directory, only root, the effective user and members of that same unix
    ///   group may write it. The sticky bit is not enough here: it prevents renames, not the creation of new names.
    /// - Throws: `wrongOwner`, `unsafeMode`.
    package func requireSafeAncestors() throws(FileError) { try requireSafeAncestors(of: attributes(".")) }

    /// The same for one whose facts are known.
    func requireSafeAncestors(of facts: FileAttributes) throws(FileError) {
        let user = geteuid()
        try forEachAncestor(of: facts) { (facts, child, ancestor) throws(FileError) in
            try requireSafe(facts, for: user, at: ancestor)
            if child.isOfStranger(to: user) { try requireClosed(facts, to: child.gid, at: ancestor) }
        }
    }

    /// Rejects a directory where nothing can be shared with a unix group. Called before anything is created there, so
    /// that the creator gets the error instead of the other members.
    ///
    /// The group's members need search permission on this directory and every ancestor, and must be able to trust each
    /// by `requireSafeAncestors`.
    /// - Throws: `notShared`, `unsafeMode`.
    package func requireShareable(with group: gid_t) throws(FileError) {
        let facts = try attributes(".")
        try requireShareable(facts, with: group, holding: geteuid(), at: ".")
        try forEachAncestor(of: facts) { (facts, child, ancestor) throws(FileError) in
            try requireShareable(facts, with: group, holding: child.uid, at: ancestor)
        }
    }

    /// Examines the real parents, not the path's: the way that a rename would have to take.
    ///
    /// - Parameter body: `ancestor` is the way to it from this directory, such as `../..`.
    private func forEachAncestor(
        of facts: FileAttributes,
        _ body: (_ facts: FileAttributes, _ child: FileAttributes, _ ancestor: String) throws(FileError) -> Void
    ) throws(FileError) {
        var child = facts
        var ancestor = ".."
        while true {
            let facts = try attributes(ofAncestor: ancestor)
            if facts.isSameFile(as: child) { return }
            try body(facts, child, ancestor)
            child = facts
            ancestor += "/.."
        }
    }

    private func attributes(ofAncestor ancestor: String) throws(FileError) -> FileAttributes {
        var status = stat()
        let result = uninterrupted { fstatat(descriptor.rawValue, ancestor, &status, 0) }
        if result < 0 { throw error(-result, "examine what lies above", ".") }
        return FileAttributes(status)
    }

    private func requireSafe(
        _ facts: FileAttributes, for user: uid_t, at ancestor: String
    ) throws(FileError) {
        if !TrustedOwner.includes(facts.uid, for: user) && !facts.isSharedWithThisProcess {
            throw FileError(
                .wrongOwner, operation: trusting, path: location(of: ancestor),
                advice: "Run as its owner (uid \(facts.uid)), or choose another place with SEALED_GROUPS_HOME.")
        }
        if facts.mode & S_IWOTH != 0 && facts.mode & S_ISVTX == 0 {
            throw unsafe(at: ancestor, "As its owner, take the permission away", "chmod o-w")
        }
    }

    private func requireClosed(_ facts: FileAttributes, to group: gid_t, at ancestor: String) throws(FileError) {
        if facts.mode & S_IWOTH != 0 {
            throw unsafe(at: ancestor, "Share directories elsewhere, or as its owner take that away", "chmod o-w")
        }
        if facts.mode & S_IWGRP != 0 && facts.gid != group {
            throw unsafe(
                at: ancestor, "As its owner, give it to the unix group of what is shared below it", "chgrp \(group)")
        }
    }

    private func requireShareable(
        _ facts: FileAttributes, with group: gid_t, holding owner: uid_t, at place: String
    ) throws(FileError) {
        let isOfSystem = facts.uid == 0 || (facts.uid != geteuid() && TrustedOwner.includes(facts.uid))
        guard isOfSystem || facts.sharing == .unixGroup(group) else {
            throw notShared(at: place, "Have its owner or an administrator give it to root", "ls -ld")
        }
        guard facts.mode & (facts.gid == group ? S_IXGRP : S_IXOTH) != 0 else {
            throw notShared(
                at: place, "As its owner, let the group's members through",
                "chmod \(facts.gid == group ? "g+x" : "o+x")")
        }
        if owner != 0 { try requireClosed(facts, to: group, at: place) }
    }

    private func notShared(at place: String, _ sentence: String, _ command: String) -> FileError {
        let name = location(of: place)
        return FileError(
            .notShared, operation: "share what lies in", path: name,
            advice: "\(sentence), or choose another place with SEALED_GROUPS_HOME: \(command) \(name.shellQuoted)")
    }

    private var trusting: String { "trust what lies in" }

    private func unsafe(at ancestor: String, _ sentence: String, _ command: String) -> FileError {
        let name = location(of: ancestor)
        return FileError(
            .unsafeMode, operation: trusting, path: name, advice: "\(sentence): \(command) \(name.shellQuoted)")
    }

    private func location(of ancestor: String) -> String {
        let opened = uninterrupted { openat(descriptor.rawValue, ancestor, clinux_o_path | O_DIRECTORY | O_CLOEXEC, 0) }
        guard opened >= 0 else { return "a directory above \(display("."))" }
        defer { close(opened) }
        let name = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { space in
                guard let start = space.baseAddress else { return }
                count = max(0, readlink("/proc/self/fd/\(opened)", start, space.count))
            }
        }
        return name.isEmpty ? "a directory above \(display("."))" : String(decoding: name, as: UTF8.self)
    }
}

extension FileAttributes {
    fileprivate var isSharedWithThisProcess: Bool {
        guard case .unixGroup(let group) = sharing else { return false }
        return ProcessGroups.contain(group)
    }

    /// `true` if another user created this directory, so that it was trusted because of its group.
    ///
    /// A shared directory of an owner that is unknown in this user namespace counts as well.
    fileprivate func isOfStranger(to user: uid_t) -> Bool {
        uid != user && uid != 0 && (sharing != .ownerOnly || !TrustedOwner.includes(uid, for: user))
    }
}
