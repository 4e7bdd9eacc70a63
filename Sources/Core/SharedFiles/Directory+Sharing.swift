package import Glibc

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
        let sharing = try requirePrivateOrShared()
        try requireSafeAncestors()
        return sharing
    }

    /// Refuses a directory that is neither private nor shared with a unix group of this process.
    ///
    /// A private one is what `requirePrivate` accepts. A shared one (`FileAttributes.sharing`) may belong to anybody if
    /// this process is in its unix group; if it belongs to the effective user or root, that owner chose the group.
    /// - Returns: who may use it.
    /// - Throws: `wrongOwner`, `unsafeMode`.
    @discardableResult
    package func requirePrivateOrShared() throws(FileError) -> Sharing {
        let facts = try attributes(".")
        guard case .unixGroup(let group) = facts.sharing else {
            try requirePrivate(facts)
            return .ownerOnly
        }
        guard facts.uid == geteuid() || facts.uid == 0 || ProcessGroups.contain(group) else {
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
