package import AppGroups
internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// A user's memory of a group's team key and of the roster that was accepted last: one file of mode 0600 below the user's
/// state directory, beside the watermarks, replaced durably.
///
/// A program of the same user can edit it, as it can edit that user's other files; other users cannot.
package struct RosterMemory: Sendable {
    /// What is remembered.
    package struct Contents: Sendable, Hashable {
        package var teamKey: TeamPublicKey
        /// The roster's whole file; nil where a person accepted a team key before any roster.
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
    private static let lockLeaf = ".lock"

    private let directoryPath: FilePath
    private let leaf: String
    private let group: String

    /// The memory of this process's user.
    package init(of group: AppGroup, in home: GroupsHome) {
        directoryPath = home.watermarksPath.removingLastComponent().appending("Rosters")
        leaf = "\(group.identifier).roster"
        self.group = group.identifier
    }

    /// The file's path, for messages.
    package var path: String { directoryPath.appending(leaf).string }

    /// Which file it is and when it was written last; nil for none.
    package var stamp: RosterFileStamp? {
        (try? Directory.openOwn(directoryPath)).flatMap { try? $0.attributes(leaf) }.map(RosterFileStamp.init)
    }

    /// What is remembered; nil only where there is no file.
    ///
    /// - Throws: `VaultError` `.corrupt` for a damaged file, which is left as it is; `.unsafeFile`, `.denied`, `.file`.
    package func load() throws(VaultError) -> Contents? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try Directory.openOwn(directoryPath).read(leaf, limit: Self.maximumSize)
        } catch {
            if error.code == .notFound { return nil }
            throw VaultError(error, "read what is remembered of the roster")
        }
        guard let contents = Self.parse(bytes, group: group) else {
            throw VaultError(
                .corrupt, "read what is remembered of the roster", path, "It is damaged.",
                advice: "State the team key in the program or in the system's settings, then move the file away.")
        }
        return contents
    }

    /// Remembers what is newer than what is there; something newer that another process stored meanwhile stays.
    ///
    /// - Returns: What is remembered by now.
    /// - Throws: `VaultError` `.durabilityUnknown`, `.lockTimeout`, `.denied`, `.file`; `.corrupt`.
    @discardableResult
    package func store(_ contents: Contents) throws(VaultError) -> Contents {
        try locked { directory throws(VaultError) in
            if let known = try load(), !contents.isNewer(than: known) { return known }
            try replace(contents, in: directory)
            return contents
        }
    }

    /// Remembers exactly this, whatever was there: for a person's decision.
    package func overwrite(_ contents: Contents) throws(VaultError) {
        try locked { directory throws(VaultError) in try replace(contents, in: directory) }
    }

    private func locked<Result>(
        _ body: (Directory) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        let operation = "remember the roster"
        let directory = try VaultError.onFiles(operation) { () throws(FileError) in
            try Directory.createOwn(directoryPath)
        }
        let lock = try VaultError.onFiles(operation) { () throws(FileError) in
            try LockFile(directory: directory, name: Self.lockLeaf).acquire(.whole, .exclusive, timeout: .seconds(5))
        }
        let result = try body(directory)
        lock.unlock()
        return result
    }

    private func replace(_ contents: Contents, in directory: Directory) throws(VaultError) {
        try VaultError.onFiles("remember the roster") { () throws(FileError) in
            try directory.replace(leaf, with: Self.encode(contents), mode: 0o600, durability: .durable)
        }
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
            // Verified when it was stored: a program that could change it could change the team key as well.
            return Contents(
                teamKey: key, roster: roster.isEmpty ? nil : try SignedRoster(trusting: roster, group: group))
        } catch {
            return nil
        }
    }
}

extension RosterMemory.Contents {
    /// Whether it says more than another one: a higher version of the same roster, or a roster where there was none.
    fileprivate func isNewer(than known: Self) -> Bool {
        guard let roster else { return false }
        guard let other = known.roster else { return roster.isOfTeam(known.teamKey) }
        return roster.roster.id == other.roster.id && roster.roster.version > other.roster.version
            && roster.isOfTeam(known.teamKey)
    }
}

/// Which file a name stood for at one moment, and in which state.
package struct RosterFileStamp: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Int64

    init(_ facts: FileAttributes) {
        (device, inode, size, modified) = (facts.device, facts.inode, facts.size, facts.modifiedNanoseconds)
    }
}
