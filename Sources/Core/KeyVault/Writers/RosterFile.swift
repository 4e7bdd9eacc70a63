package import AppGroups
internal import SharedFiles

/// The roster's file in a group's container: readable by every member, replaced as a whole.
package enum RosterFile {
    /// The place of the roster in the lock file of the container's records.
    private static let lockRange = LockRange(slot: 0x726F_7374_6572)

    /// Returns the file's bytes; `nil` if the file does not exist.
    ///
    /// - Throws: `VaultError` `.file`, `.denied`, `.unsafeFile`.
    package static func read(in container: GroupContainer) throws(VaultError) -> [UInt8]? {
        do throws(FileError) {
            return try container.root.read(ContainerLayout.roster, limit: Roster.maximumSize)
        } catch {
            if error.code == .notFound { return nil }
            throw VaultError(error, "read the roster")
        }
    }

    /// Replaces the roster's file, and remembers the roster for this user.
    ///
    /// - Parameter isAnew: Whether a person starts a new roster because the previous team key is lost: then it replaces
    ///   that roster in the memory.
    /// - Throws: `VaultError` `.olderRoster` if another program has meanwhile signed this version or a later one,
    ///   `.replaced` if it has created another roster; `.lockTimeout`, `.durabilityUnknown`, `.denied`, `.file`.
    package static func put(
        _ roster: SignedRoster, in container: GroupContainer, home: GroupsHome, isAnew: Bool = false
    ) throws(VaultError) {
        let sharing = container.sharing
        let lock = try VaultError.onFiles("write the roster") { () throws(FileError) in
            try LockFile(directory: container.root, name: ContainerLayout.lockFile, mode: sharing.fileMode)
                .acquire(lockRange, .exclusive, timeout: .seconds(5))
        }
        do throws(VaultError) { try replace(with: roster, in: container, isAnew: isAnew) } catch {
            lock.unlock()
            throw error
        }
        lock.unlock()
        let memory = RosterMemory(of: container.group, in: home)
        let contents = RosterMemory.Contents(teamKey: roster.roster.team, roster: roster)
        if isAnew { try memory.overwrite(contents) } else { try memory.store(contents) }
    }

    private static func replace(
        with roster: SignedRoster, in container: GroupContainer, isAnew: Bool
    ) throws(VaultError) {
        // A roster of another key, or any other content, is replaced: it must not prevent the team from signing.
        let bytes = try? read(in: container)
        if !isAnew, let bytes, bytes != roster.bytes,
            let there = try? SignedRoster(verifying: bytes, group: roster.roster.group),
            there.roster.team == roster.roster.team
        {
            guard there.roster.id == roster.roster.id else {
                throw VaultError(
                    .replaced, "write", "the roster", "Another roster of the same team key exists.",
                    advice:
                        "Ask the team which one is right. To continue with the accepted roster, move that file away."
                )
            }
            guard there.roster.version < roster.roster.version else {
                throw VaultError(
                    .olderRoster, "write", "the roster", "Version \(there.roster.version) was signed in the meantime.",
                    advice: "Run it again.")
            }
        }
        let sharing = container.sharing
        try VaultError.onFiles("write the roster") { () throws(FileError) in
            try container.root.replace(
                ContainerLayout.roster, with: roster.bytes, mode: sharing.fileMode, group: sharing.groupID,
                durability: .durable)
        }
    }
}
