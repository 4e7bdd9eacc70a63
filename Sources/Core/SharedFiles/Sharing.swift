package import Glibc

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
