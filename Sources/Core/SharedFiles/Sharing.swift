internal import CLinux
package import Glibc
package import SystemPackage

/// The users of a directory of sealed files. It is chosen when the directory is created and then recorded in its mode.
///
/// Every program derives the modes of new files from the directory, never from its umask.
public enum Sharing: Hashable, Sendable {
    /// A single unix user: directories `0700`, files `0600`.
    case ownerOnly
    /// Every member of the unix group with this number: directories `2770`, files `0660`, all of that group.
    ///
    /// A member can read, change and remove files of other members. Readers reject the writes of a member without the
    /// keys, but its removals are still losses.
    case unixGroup(UInt32)
}

extension Sharing {
    /// Exact mode of a directory that holds files.
    package var directoryMode: UInt32 {
        switch self {
        case .ownerOnly: 0o700
        case .unixGroup: 0o2770
        }
    }

    /// Exact mode of a directory of such directories: in a shared one members create their own, but may not rename or
    /// remove another's (the sticky bit).
    package var parentMode: UInt32 {
        switch self {
        case .ownerOnly: 0o700
        case .unixGroup: 0o3770
        }
    }

    /// Exact mode of a file.
    package var fileMode: UInt32 {
        switch self {
        case .ownerOnly: 0o600
        case .unixGroup: 0o660
        }
    }

    /// The required unix group of files and directories; nil if any will do, since it has no rights.
    package var groupID: UInt32? {
        switch self {
        case .ownerOnly: nil
        case .unixGroup(let group): group
        }
    }
}

extension FileAttributes {
    /// The sharing that a directory's mode records: shared is setgid, all permissions for the unix group and none for
    /// others.
    ///
    /// Such a mode never occurs by accident: plain setgid directories let others read, and a umask removes group
    /// permissions.
    package var sharing: Sharing {
        kind == .directory && mode & 0o2077 == 0o2070 ? .unixGroup(gid) : .ownerOnly
    }
}

extension Directory {
    /// The users of this directory, by its own mode and unix group.
    package var sharing: Sharing {
        get throws(FileError) { try attributes(".").sharing }
    }

    /// Exact mode of the files in this directory; the narrower one if the directory can't be examined.
    package var fileMode: mode_t { ((try? sharing) ?? .ownerOnly).fileMode }

    /// Rejects a directory that an untrusted user could change, or whose name such a user could replace.
    ///
    /// Checks `requirePrivateOrShared` for the directory itself and `requireSafeAncestors` for its ancestors.
    /// - Returns: the directory's sharing.
    @discardableResult
    package func requireTrusted() throws(FileError) -> Sharing {
        let facts = try attributes(".")
        let sharing = try requirePrivateOrShared(facts)
        try requireSafeAncestors(of: facts)
        return sharing
    }

    /// Rejects a directory that is neither private nor shared with a unix group of this process.
    ///
    /// A private one is accepted as by `requirePrivate`. A shared one (`FileAttributes.sharing`) may have any owner if
    /// this process is in its unix group; if it belongs to the effective user or root, that owner chose the group.
    /// - Returns: the directory's sharing.
    /// - Throws: `wrongOwner`, `unsafeMode`.
    @discardableResult
    package func requirePrivateOrShared() throws(FileError) -> Sharing { try requirePrivateOrShared(attributes(".")) }

    private func requirePrivateOrShared(_ facts: FileAttributes) throws(FileError) -> Sharing {
        guard case .unixGroup(let group) = facts.sharing else {
            try requirePrivate(facts)
            return .ownerOnly
        }
        guard facts.uid == 0 || facts.uid == geteuid() || ProcessGroups.contain(group) else {
            let path = display(".").shellQuoted
            throw FileError(
                .wrongOwner, operation: "trust", path: display("."),
                advice: "Only members of its unix group may use it; join the group, then log in again: "
                    + "usermod -aG \"$(stat -c %G \(path))\" \"$(id -un)\"")
        }
        return facts.sharing
    }

    /// Rejects a directory that is not shared like the one that it belongs to.
    ///
    /// - Throws: as `requirePrivate` if it has to be private; `notShared` if it has to be shared and is not, or with
    ///   another unix group.
    package func requireSharing(_ expected: Sharing) throws(FileError) {
        let facts = try attributes(".")
        guard case .unixGroup(let group) = expected else { return try requirePrivate(facts) }
        if facts.sharing == expected { return }
        let path = display(".").shellQuoted
        throw FileError(
            .notShared, operation: "share", path: display("."),
            advice: "Give it to the unix group: chgrp \(group) \(path) && chmod 2770 \(path)")
    }
}

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
            if child.isOfUntrustedUser(to: user) { try requireClosed(facts, to: child.gid, at: ancestor) }
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
        if result < 0 { throw error(-result, "examine the directories above", ".") }
        return FileAttributes(status)
    }

    private func requireSafe(
        _ facts: FileAttributes, for user: uid_t, at ancestor: String
    ) throws(FileError) {
        if !TrustedOwner.includes(facts.uid, for: user) && !facts.isSharedWithThisProcess {
            throw FileError(
                .wrongOwner, operation: trusting, path: location(of: ancestor),
                advice: "Run as its owner (uid \(facts.uid)), or choose another directory with SEALED_GROUPS_HOME.")
        }
        if facts.mode & S_IWOTH != 0 && facts.mode & S_ISVTX == 0 {
            throw unsafe(at: ancestor, "As its owner, remove the permission", "chmod o-w")
        }
    }

    private func requireClosed(_ facts: FileAttributes, to group: gid_t, at ancestor: String) throws(FileError) {
        if facts.mode & S_IWOTH != 0 {
            throw unsafe(at: ancestor, "Share directories elsewhere, or as its owner remove that", "chmod o-w")
        }
        if facts.mode & S_IWGRP != 0 && facts.gid != group {
            throw unsafe(
                at: ancestor, "As its owner, give it to the unix group of the directories that are shared below it",
                "chgrp \(group)")
        }
    }

    private func requireShareable(
        _ facts: FileAttributes, with group: gid_t, holding owner: uid_t, at place: String
    ) throws(FileError) {
        let isOfSystem = facts.uid == 0 || (facts.uid != geteuid() && TrustedOwner.includes(facts.uid))
        guard isOfSystem || facts.sharing == .unixGroup(group) else {
            throw notShared(at: place, "Ask its owner or an administrator to give it to root", "ls -ld")
        }
        guard facts.mode & (facts.gid == group ? S_IXGRP : S_IXOTH) != 0 else {
            throw notShared(
                at: place, "As its owner, allow the group's members to enter it",
                "chmod \(facts.gid == group ? "g+x" : "o+x")")
        }
        if owner != 0 { try requireClosed(facts, to: group, at: place) }
    }

    private func notShared(at place: String, _ sentence: String, _ command: String) -> FileError {
        let name = location(of: place)
        return FileError(
            .notShared, operation: "share the contents of", path: name,
            advice: "\(sentence), or choose another directory with SEALED_GROUPS_HOME: \(command) \(name.shellQuoted)")
    }

    private var trusting: String { "trust the contents of" }

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
    fileprivate func isOfUntrustedUser(to user: uid_t) -> Bool {
        uid != user && uid != 0 && (sharing != .ownerOnly || !TrustedOwner.includes(uid, for: user))
    }
}

extension Directory {
    /// Rejects a directory that another user could change.
    ///
    /// - Throws: `wrongOwner` unless it belongs to the effective user or root; `unsafeMode` if its unix group or others
    ///   may write. For a mode the advice ends with a command for its owner.
    package func requirePrivate() throws(FileError) {
        try requirePrivate(attributes("."))
    }

    func requirePrivate(_ facts: FileAttributes) throws(FileError) {
        if facts.uid != 0 && facts.uid != geteuid() { throw Self.foreign(display(".")) }
        if facts.mode & (S_IWOTH | S_IWGRP) != 0 {
            throw FileError(
                .unsafeMode, operation: "trust", path: display("."),
                advice: "As its owner, remove the permission: chmod go-w \(display(".").shellQuoted)")
        }
    }

    /// Opens a directory of this user alone, for key files and watermarks. It is never shared, and is checked.
    ///
    /// - Throws: `wrongOwner` for one of another user, readable or not; `unsafeMode`; `notFound`.
    package static func openOwn(_ path: FilePath) throws(FileError) -> Directory {
        try own(path) { () throws(FileError) in try open(path) }
    }

    /// Opens a directory of this user alone, created with `0700` if it is missing. It is never shared, and is checked.
    ///
    /// - Throws: `wrongOwner` for one of another user, readable or not; `unsafeMode`.
    package static func createOwn(_ path: FilePath) throws(FileError) -> Directory {
        try own(path) { () throws(FileError) in try create(path, mode: Sharing.ownerOnly.directoryMode) }
    }

    /// Does the same for a path as text.
    package static func createOwn(_ path: String) throws(FileError) -> Directory {
        try createOwn(FilePath(path))
    }

    private static func own(
        _ path: FilePath, _ open: () throws(FileError) -> Directory
    ) throws(FileError) -> Directory {
        do throws(FileError) {
            let directory = try open()
            try directory.requirePrivate()
            return directory
        } catch {
            // Another user's 0700 directory cannot even be opened; "permission denied" would not explain the fix.
            var status = stat()
            guard error.code == .permissionDenied, lstat(path.string, &status) == 0, status.st_uid != geteuid() else {
                throw error
            }
            throw foreign(path.string)
        }
    }

    private static func foreign(_ path: String) -> FileError {
        FileError(
            .wrongOwner, operation: "trust", path: path,
            advice:
                "Use a directory that belongs to this user: SEALED_USER_HOME names one for key files and watermarks, "
                + "SEALED_GROUPS_HOME one for everything.")
    }
}
