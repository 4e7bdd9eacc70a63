package import AppGroups
internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles
internal import SystemPackage

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
    /// - Throws: `VaultError` `.corrupt` for a damaged file, which is left unchanged, and for files of different teams;
    ///   `.unsafeFile`, `.denied`, `.file`.
    package func load() throws(VaultError) -> Contents? {
        let known = try load(file)
        guard let otherFile,
            let other = try PlaceMemoryFile.ifReadable({ () throws(VaultError) in try load(otherFile) })
        else { return known }
        guard let known, known != other else { return other }
        if other.isNewer(than: known) { return other }
        guard known.isNewer(than: other) || known.teamKey == other.teamKey else {
            throw Self.damaged(file, "It and \(Self.path(of: otherFile)) name different team keys.")
        }
        return known
    }

    /// Returns the memory of the written file alone where the two files contradict each other: the acceptance decides.
    private func knownBeforeAcceptance() throws(VaultError) -> Contents? {
        do throws(VaultError) { return try load() } catch {
            guard error.code == .corrupt else { throw error }
            return try load(file)
        }
    }

    private static func damaged(_ file: MemoryFile, _ reason: String) -> VaultError {
        VaultError(
            .corrupt, "read the memory of the roster", path(of: file), reason,
            advice: "State the team key in the program or in the system's settings, then move the file away.")
    }

    private static func path(of file: MemoryFile) -> String { file.directory.appending(file.leaf).string }

    private func load(_ file: MemoryFile) throws(VaultError) -> Contents? {
        let operation = "read the memory of the roster"
        let found = try VaultError.onFiles(operation) { () throws(FileError) in try file.read(limit: Self.maximumSize) }
        guard let bytes = found else { return nil }
        guard let contents = Self.parse(bytes, group: group) else { throw Self.damaged(file, "It is damaged.") }
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

    /// Remembers the roster of a team key that a person names, even if another team's was remembered.
    ///
    /// - Throws: `VaultError` `.wrongTeamKey` for a key that the remembered roster has ended; those of `store`.
    package func accept(_ contents: Contents, naming key: TeamPublicKey) throws(VaultError) {
        try file.update("remember the roster", durability: .durable) { () throws(VaultError) in
            guard let known = try knownBeforeAcceptance() else { return Self.encode(contents) }
            if let ended = known.roster, ended.isOfTeam(key), ended.roster.team != key,
                contents.roster?.isOfTeam(ended.roster.team) != true
            {
                throw VaultError(
                    .wrongTeamKey, "accept", "the roster",
                    "The roster that was accepted before says that \(ended.roster.team) has succeeded this team key.",
                    advice: "Nothing was accepted. Put the newest signed roster in its place.")
            }
            let isOfAnotherTeam =
                contents.roster?.isOfTeam(known.teamKey) != true && known.roster?.isOfTeam(contents.teamKey) != true
                && known.teamKey != contents.teamKey
            return isOfAnotherTeam || contents.isNewer(than: known) ? Self.encode(contents) : nil
        }
        if (try? load()) == nil { try removeOther() }
    }

    /// Stores what only the other directory has: other users may be able to rename that one.
    package func keep(_ contents: Contents) {
        guard otherFile != nil, (try? load(file)) != contents else { return }
        _ = try? store(contents)
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
        let path = Self.path(of: otherFile)
        throw VaultError(
            .denied, "accept the roster", path,
            "The accepted roster is stored, but this former memory could not be removed.",
            advice: "Remove it: rm \(path.shellQuoted)")
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
