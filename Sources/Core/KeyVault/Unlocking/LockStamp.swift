internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// The stamp of the user's last lock in a vault's directory: 16 random bytes, replaced at each lock.
///
/// A program with a key in memory that sees another stamp than at the opening has been locked. An unlocked key that is
/// stored for other programs is valid only under the stamp with which it was stored. So a lock is complete once the
/// stamp is replaced, even if the locking program can reach nothing else of the user's session. A missing stamp counts
/// as another one.
///
/// If several users share a vault, each has their own stamp: a lock affects only the user's own programs.
/// `docs/spec/vault.md` describes how other members can use its name.
struct LockStamp: Sendable {
    private static let size = 16

    /// Zero without a stamp; `nil` if unknown.
    private let bytes: Bytes16?

    /// No stamp: the user has neither locked nor unlocked this vault.
    static let none = LockStamp(bytes: .zero)
    /// An unknown stamp: different from every stamp, including itself.
    static let unknown = LockStamp(bytes: nil)

    /// Creates a stamp from a ticket's bytes.
    init(ticket bytes: Bytes16) { self.bytes = bytes }

    private init(bytes: Bytes16?) { self.bytes = bytes }

    /// The bytes for a ticket; `nil` for an unknown stamp.
    var ticketBytes: Bytes16? { bytes }

    var isNone: Bool { bytes == .zero }

    /// Returns whether no lock came between the two.
    func isSame(as other: LockStamp) -> Bool {
        guard let bytes, let others = other.bytes else { return false }
        return bytes == others
    }
}

extension LockStamp {
    /// The file's name, with the user's number in the parent namespace: it is the same inside and outside the user's
    /// container.
    static var leaf: String { ".locked.\(UserMap.ofThisProcess.outside(geteuid()))" }
    private static let operation = "read the time of the vault's lock from"

    /// Returns the present stamp. Read it before the credential: a lock during the hashing of a passphrase counts.
    ///
    /// A file that another user planted under its name counts as no stamp; its effect is at most that of a removal.
    /// - Throws: `VaultError` `.file`, `.denied` or `.unsafeFile`.
    static func read(in directory: FilePath) throws(VaultError) -> LockStamp {
        // By its path in one call, because this is read at each use of a key.
        let path = directory.appending(leaf).string
        let opened = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        let number = errno
        if opened < 0 {
            if number == ENOENT || isPlanted(path) { return .none }
            throw VaultError(FileError(errno: number, operation: operation, path: path), operation)
        }
        defer { close(opened) }
        var facts = stat()
        guard fstat(opened, &facts) == 0, isOwn(facts) else { return .none }
        // Stamps are written whole, so a file of another size is not ours.
        guard facts.st_size == size else { return .none }
        var count = 0
        let bytes = Bytes16(filling: { count = Glibc.read(opened, $0.baseAddress, $0.count) })
        if count == size { return LockStamp(bytes: bytes) }
        throw VaultError(FileError(errno: count < 0 ? errno : EIO, operation: operation, path: path), operation)
    }

    /// Returns `read(in:)`, or an unknown stamp if it cannot be read, so that a vault opened then counts as locked.
    static func ifReadable(in directory: FilePath) -> LockStamp { (try? read(in: directory)) ?? .unknown }

    /// Returns whether the entry of that name is not one that a lock by this user leaves.
    private static func isPlanted(_ path: String) -> Bool {
        var facts = stat()
        if lstat(path, &facts) == 0 { return !isOwn(facts) }
        return errno == ENOENT
    }

    private static func isOwn(_ facts: stat) -> Bool {
        facts.st_mode & S_IFMT == S_IFREG && facts.st_uid == geteuid()
    }
}

extension LockStamp {
    /// Replaces the stamp, so that every stamp read before is outdated.
    ///
    /// - Throws: `VaultError` `.file`, `.denied` or `.unsafeFile`.
    static func replace(in directory: Directory) throws(VaultError) {
        try VaultError.onFiles("lock") { () throws(FileError) in try write(SecureRandom.bytes(count: size), directory) }
    }

    /// Creates the stamp if it is missing, so that the first lock cannot be undone by removing its stamp.
    ///
    /// - Returns: The new stamp; `nil` if another program locked or unlocked first.
    /// - Throws: As `replace(in:)`.
    static func makeFirst(in path: FilePath) throws(VaultError) -> LockStamp? {
        let bytes = SecureRandom.bytes(count: size)
        do throws(FileError) {
            let directory = try Directory.open(path)
            do throws(FileError) {
                try directory.createExclusively(leaf, with: bytes, mode: 0o600)
            } catch {
                guard error.code == .alreadyExists else { throw error }
                // The entry was planted, or left by another program.
                guard (try? read(in: path))?.isNone == true else { return nil }
                try write(bytes, directory)
            }
        } catch {
            throw VaultError(error, "unlock")
        }
        return bytes.withUnsafeBytes { LockStamp(bytes: Bytes16($0)) }
    }

    private static func write(_ bytes: [UInt8], _ directory: Directory) throws(FileError) {
        // Unsynced, because no process that could compare it survives a restart.
        try bytes.withRawBytes { bytes throws(FileError) in
            do throws(FileError) {
                try directory.replaceRacing(leaf, with: bytes, mode: 0o600)
            } catch {
                guard error.code == .notRegularFile else { throw error }
                try moveAway(in: directory)
                try directory.replaceRacing(leaf, with: bytes, mode: 0o600)
            }
        }
    }

    /// Moves a planted directory away: a file cannot replace it, and it cannot be removed unless it is empty.
    private static func moveAway(in directory: Directory) throws(FileError) {
        let at = directory.descriptor.rawValue
        if unlinkat(at, leaf, AT_REMOVEDIR) == 0 { return }
        try directory.move(leaf, to: directory, as: try directory.freeName("\(leaf).planted"))
    }
}

/// The mapping of this user namespace's users to those of the enclosing one, user_namespaces(7).
///
/// The root user of a user's own container is the same person outside it, under another number.
struct UserMap: Sendable {
    private struct Line {
        let inside: UInt32
        let outside: UInt32
        let count: UInt32
    }

    private let lines: [Line]

    /// The map of this process; the identity if the system does not provide it.
    static let ofThisProcess = UserMap(read() ?? "")

    /// - Parameter text: The contents of `/proc/self/uid_map`: in each line a number inside, a number outside, a count.
    init(_ text: String) {
        lines = text.split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: " ").compactMap { UInt32($0) }
            return numbers.count == 3 ? Line(inside: numbers[0], outside: numbers[1], count: numbers[2]) : nil
        }
    }

    /// Returns the user's number outside, or the same number for a user that does not exist there.
    func outside(_ user: UInt32) -> UInt32 {
        for line in lines where user >= line.inside && user - line.inside < line.count {
            return line.outside &+ (user - line.inside)
        }
        return user
    }

    private static func read() -> String? {
        guard let file = try? Descriptor.openForReading(path: "/proc/self/uid_map") else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            guard let count = try? file.read(into: buffer) else { return nil }
            return String(decoding: buffer[0..<count], as: UTF8.self)
        }
    }
}

extension Directory {
    /// Replaces a small file that several programs may write at once, without a lock that one of them could hold. The
    /// last one wins, and each caller knows that its own value was in place. Unsynced.
    ///
    /// Random names keep writers apart, but a writer that removes the files of crashed ones can remove a file created
    /// just before. Its writer then begins again.
    func replaceRacing(_ leaf: String, with bytes: UnsafeRawBufferPointer, mode: mode_t) throws(FileError) {
        var attempts = 16
        while true {
            do throws(FileError) {
                return try replace(leaf, with: bytes, mode: mode, durability: .unsynced, strategy: .named)
            } catch {
                attempts -= 1
                guard error.code == .overtaken, attempts > 0 else { throw error }
            }
        }
    }
}
