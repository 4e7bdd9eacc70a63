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
