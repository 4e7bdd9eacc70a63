package import Glibc

/// Who may use a directory of sealed files: chosen when it is made, and from then on recorded by its own mode.
///
/// Every program derives the modes of what it makes there from the directory, never from its umask.
public enum Sharing: Hashable, Sendable {
    /// One unix user: directories `0700`, files `0600`.
    case ownerOnly
    /// Every member of the unix group with this number: directories `2770`, files `0660`, all of that group.
    ///
    /// A member can read, change and remove whatever another one wrote there. What a member without the keys writes is
    /// refused by readers, but its removal is a loss all the same.
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

    /// Exact mode of a directory of such directories: in a shared one members make their own, but may not rename or
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

    /// The unix group that files and directories have to belong to; nil where any will do, since it has no rights.
    package var groupID: UInt32? {
        switch self {
        case .ownerOnly: nil
        case .unixGroup(let group): group
        }
    }
}

extension FileAttributes {
    /// What a directory's mode says: shared is setgid, everything for the unix group and nothing for others.
    ///
    /// No accident looks like that: plain setgid directories let others read, and a umask takes from the group.
    package var sharing: Sharing {
        kind == .directory && mode & 0o2077 == 0o2070 ? .unixGroup(gid) : .ownerOnly
    }
}

extension Directory {
    /// Who may use this directory, by its own mode and unix group.
    package var sharing: Sharing {
        get throws(FileError) { try attributes(".").sharing }
    }

    /// Exact mode of the files in this directory; the narrower one where the directory can't be examined.
    package var fileMode: mode_t { ((try? sharing) ?? .ownerOnly).fileMode }

    /// Refuses a directory that somebody could change, or whose name somebody could replace, who is not meant to.
    ///
    /// It is `requirePrivateOrShared` for the directory itself and `requireSafeAncestors` for what lies above.
    /// - Returns: who may use it.
    @discardableResult
    package func requireTrusted() throws(FileError) -> Sharing {
        let facts = try attributes(".")
        let sharing = try requirePrivateOrShared(facts)
        try requireSafeAncestors(of: facts)
        return sharing
    }

    /// Refuses a directory that is neither private nor shared with a unix group of this process.
    ///
    /// A private one is what `requirePrivate` accepts. A shared one (`FileAttributes.sharing`) may belong to anybody if
    /// this process is in its unix group; if it belongs to the effective user or root, that owner chose the group.
    /// - Returns: who may use it.
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

    /// Refuses a directory that is not shared just as the one that it belongs to.
    ///
    /// - Throws: as `requirePrivate` where it has to be private; `notShared` where it has to be shared and is not, or with
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
