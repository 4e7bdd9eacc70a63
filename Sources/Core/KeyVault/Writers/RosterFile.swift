package import AppGroups
internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles
internal import SystemPackage

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

extension Roster {
    /// The largest file in bytes, checked before memory is allocated.
    package static let maximumSize = 1 << 20
}

/// A user's memory of a group's team key and of the last accepted roster: a ``MemoryFile``, replaced durably.
///
/// It is separate from ``PlaceMemory``: a group may have a roster and no vault, and a copy of a vault opened at another
/// place has the same roster (docs/decisions/0026).
package struct RosterMemory: Sendable {
    /// The remembered values.
    package struct Contents: Sendable, Hashable {
        package var teamKey: TeamPublicKey
        /// The accepted roster; `nil` if a person accepted a team key before any roster.
        package var roster: SignedRoster?

        package init(teamKey: TeamPublicKey, roster: SignedRoster?) {
            self.teamKey = teamKey
            self.roster = roster
        }
    }

    private static let magic = Array("SEALRMEM".utf8)
    private static let format: UInt32 = 1
    private static let checkSize = 32
    private static let headSize = 8 + 4 + 4 + 32
    private static let maximumSize = headSize + Roster.maximumSize + checkSize

    private let file: MemoryFile
    /// The file in the other directory of memories, which counts as well.
    private let otherFile: MemoryFile?
    private let group: String

    /// Creates the memory of this process's user.
    package init(of group: AppGroup, in home: GroupsHome) {
        let files = home.rostersPaths.map {
            MemoryFile(directory: $0, leaf: "\(group.identifier).roster")
        }
        (file, otherFile) = (files[0], files.dropFirst().first)
        self.group = group.identifier
    }

    /// The file's path, for messages.
    package var path: String { Self.path(of: file) }

    /// The identities and the last changes of the files that exist.
    package var stamps: [RosterFileStamp] {
        [file.attributes, otherFile?.attributes].compactMap { $0.map(RosterFileStamp.init) }
    }

    /// Returns the contents of both directories; `nil` only if neither has a file.
    ///
    /// - Throws: `VaultError` `.corrupt` for a damaged file, which is left unchanged, and for files that contradict each
    ///   other; `.unsafeFile`, `.denied`, `.file`.
    package func load() throws(VaultError) -> Contents? {
        let known = try load(file)
        guard let otherFile,
            let other = try PlaceMemoryFile.ifReadable({ () throws(VaultError) in try load(otherFile) })
        else { return known }
        guard let known, known != other else { return other }
        if other.isNewer(than: known) { return other }
        guard known.isNewer(than: other) else {
            // Two teams, two rosters of one team, or two of one version.
            throw damaged(file, "It and \(Self.path(of: otherFile)) remember different rosters.", isAcceptable: true)
        }
        return known
    }

    /// Returns the memory of each directory, the written one first. A memory of the other directory that is damaged or
    /// unsafe is left out.
    private func loadEach() throws(VaultError) -> [Contents] {
        var found = [try load(file)]
        if let otherFile { found.append(try? load(otherFile)) }
        return found.compactMap { $0 }
    }

    /// - Parameter isAcceptable: Whether an acceptance ends the fault. It never replaces the written file unread.
    private func damaged(_ file: MemoryFile, _ reason: String, isAcceptable: Bool) -> VaultError {
        VaultError(
            .corrupt, "read the memory of the roster", Self.path(of: file), reason,
            advice: isAcceptable
                ? "Ask the team which key is its own, then: \(Self.acceptance)"
                : "State the team key in the program or in the system's settings, then move the file away.")
    }

    private static let acceptance = "sealctl roster verify --accept KEY"

    private static func path(of file: MemoryFile) -> String { file.directory.appending(file.leaf).string }

    private func load(_ file: MemoryFile) throws(VaultError) -> Contents? {
        let operation = "read the memory of the roster"
        let found = try VaultError.onFiles(operation) { () throws(FileError) in try file.read(limit: Self.maximumSize) }
        guard let bytes = found else { return nil }
        guard let contents = Self.parse(bytes, group: group) else {
            throw damaged(file, "It is damaged.", isAcceptable: file == otherFile)
        }
        return contents
    }

    /// Stores contents that are newer than the present ones; keeps newer contents that another process stored
    /// meanwhile.
    ///
    /// - Returns: The contents now stored.
    /// - Throws: `VaultError` `.durabilityUnknown`, `.lockTimeout`, `.denied`, `.file`; `.corrupt`.
    @discardableResult
    package func store(_ contents: Contents) throws(VaultError) -> Contents {
        var remembered = contents
        try file.update("remember the roster", durability: .durable) { () throws(VaultError) in
            if let known = try load(), !contents.isNewer(than: known) {
                remembered = known
                // A state that only the other directory has is stored here as well.
                return try load(file) == known ? nil : Self.encode(known)
            }
            return Self.encode(contents)
        }
        return remembered
    }

    /// Remembers the roster of a team key that a person names, even if another team's was remembered. Of memories that
    /// contradict each other the one of the accepted roster stays.
    ///
    /// - Throws: `VaultError` `.wrongTeamKey` for a key that a remembered roster has ended; `.corrupt` if the memories have
    ///   two contents of a later version, or of this one; those of `store`.
    package func accept(_ contents: Contents, naming key: TeamPublicKey) throws(VaultError) {
        try file.update("remember the roster", durability: .durable) { () throws(VaultError) in
            let memories = try loadEach()
            for memory in memories { try memory.requireNotEnded(key, by: contents) }
            let accepted = try continued(memories, by: contents)?.accepting(contents) ?? contents
            return try load(file) == accepted ? nil : Self.encode(accepted)
        }
        if (try? load()) == nil { try removeOther() }
    }

    /// Returns the memory that an acceptance continues: the merged one or, of memories that contradict each other, that
    /// of the accepted roster or of its team.
    private func continued(_ memories: [Contents], by contents: Contents) throws(VaultError) -> Contents? {
        if let merged = try? load() { return merged }
        // A version counts within its team: a key that has ended can still sign any.
        let versions = memories.filter { $0.isOfRoster(contents) && contents.roster?.isOfTeam($0.teamKey) == true }
        let present = versions.first { $0 == contents } ?? versions.first { contents.isNewer(than: $0) }
        if let present { return present }
        guard versions.count < 2 else {
            throw VaultError(
                .corrupt, "accept", "the roster",
                "This user's memories, in \(file.directory) and the other directory, have two contents of one version, "
                    + "and this is neither of them nor a later one.",
                advice: "Nothing was accepted. Put the newest signed roster in its place, then: \(Self.acceptance)")
        }
        return versions.first ?? memories.first { $0.isOfTeam(contents) } ?? memories.first
    }

    /// Stores what only the other directory has: other users may be able to rename that one.
    ///
    /// - Parameter contents: What `load` has returned. A file that a person has removed since then is not put back.
    /// - Returns: The reason why it could not be stored.
    @discardableResult
    package func keep(_ contents: Contents) -> VaultError? {
        guard otherFile != nil, (try? load(file)) != contents else { return nil }
        do throws(VaultError) {
            try file.update("remember the roster", durability: .durable) { () throws(VaultError) in
                guard let known = try load(), try load(file) != known else { return nil }
                return Self.encode(known)
            }
        } catch { return error }
        return nil
    }

    /// Overwrites the memory with exactly these contents, for a person's decision.
    package func overwrite(_ contents: Contents) throws(VaultError) {
        try file.update("remember the roster", durability: .durable) { Self.encode(contents) }
        try removeOther()
    }

    /// - Throws: `VaultError` `.denied` if the other directory's file remains: it would contradict the accepted one.
    private func removeOther() throws(VaultError) {
        guard let otherFile else { return }
        otherFile.remove()
        guard otherFile.attributes != nil else { return }
        throw VaultError(
            .denied, "accept the roster", Self.path(of: otherFile),
            "The accepted roster is stored, but this former memory could not be removed.",
            advice: "Make its directory writable for this user, then: \(Self.acceptance)")
    }

    // MARK: Format

    private static func encode(_ contents: Contents) -> [UInt8] {
        var bytes = magic
        bytes.appendInteger(format)
        bytes.appendInteger(UInt32(contents.roster?.bytes.count ?? 0))
        bytes += contents.teamKey.key.bytes
        bytes += contents.roster?.bytes ?? []
        return bytes + check(bytes[...])
    }

    private static func check(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        BLAKE2b.hash(Array(bytes), personalization: .rosterMemory, count: checkSize)
    }

    private static func parse(_ bytes: [UInt8], group: String) -> Contents? {
        guard bytes.count >= headSize + checkSize, check(bytes.dropLast(checkSize)) == bytes.suffix(checkSize) else {
            return nil
        }
        var reader = RosterReader(bytes.dropLast(checkSize))
        do throws(VaultError) {
            guard try reader.take(8).elementsEqual(magic), try reader.integer(UInt32.self) == format else { return nil }
            let size: UInt32 = try reader.integer()
            let key = TeamPublicKey(try reader.publicKey())
            let roster = Array(try reader.take(Int(size)))
            guard reader.isAtEnd else { return nil }
            // The roster was verified when it was stored: a program that can change it can change the team key as well.
            return Contents(
                teamKey: key, roster: roster.isEmpty ? nil : try SignedRoster(trusting: roster, group: group))
        } catch {
            return nil
        }
    }
}

extension RosterMemory.Contents {
    /// Returns whether it is newer than the known contents: a higher version of the same roster, or a first roster.
    fileprivate func isNewer(than known: Self) -> Bool {
        guard let roster else { return false }
        guard let other = known.roster else { return roster.isOfTeam(known.teamKey) }
        return roster.roster.id == other.roster.id && roster.roster.version > other.roster.version
            && roster.isOfTeam(known.teamKey)
    }

    fileprivate func isOfRoster(_ other: Self) -> Bool {
        roster != nil && roster?.roster.id == other.roster?.roster.id
    }

    /// Returns whether a roster says that both are of one team, or they have the same team key.
    fileprivate func isOfTeam(_ other: Self) -> Bool {
        teamKey == other.teamKey || other.roster?.isOfTeam(teamKey) == true || roster?.isOfTeam(other.teamKey) == true
    }

    /// - Throws: `VaultError` `.wrongTeamKey` if the remembered roster says that another key has succeeded this one, and
    ///   the accepted roster does not.
    fileprivate func requireNotEnded(_ key: TeamPublicKey, by accepted: Self) throws(VaultError) {
        guard let roster, roster.isOfTeam(key), roster.roster.team != key,
            accepted.roster?.isOfTeam(roster.roster.team) != true
        else { return }
        throw VaultError(
            .wrongTeamKey, "accept", "the roster",
            "The roster that was accepted before says that \(roster.roster.team) has succeeded this team key.",
            advice: "Nothing was accepted. Put the newest signed roster in its place.")
    }

    /// Returns what is remembered after a person has accepted a roster: a newer one, or any of another team.
    fileprivate func accepting(_ accepted: Self) -> Self {
        !isOfTeam(accepted) || accepted.isNewer(than: self) ? accepted : self
    }
}

/// The identity of a named file and its state at one moment.
package struct RosterFileStamp: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Int64

    init(_ facts: FileAttributes) {
        (device, inode, size, modified) = (facts.device, facts.inode, facts.size, facts.modifiedNanoseconds)
    }
}
