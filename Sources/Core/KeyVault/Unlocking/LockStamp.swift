internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// What stands in a vault's directory since the user's last lock: 16 random bytes, replaced at each one.
///
/// Whoever has a key in memory and sees another stamp than when the vault was opened has been locked, and an unlocked key
/// that waits for others is theirs only under the stamp that it was put there with. So a lock is complete once the stamp is
/// replaced, whatever else of the user's session the program that locks can reach. That a stamp is gone counts as another
/// one.
///
/// Where several users share a vault each has a stamp of their own: a lock is for the user's own programs. What other
/// members can do with its name, `docs/vault.md` says.
struct LockStamp: Sendable {
    private static let size = 16

    /// Zero where there is none; nil where that is unknown.
    private let bytes: Bytes16?

    /// There is none: the user has neither locked nor unlocked this vault.
    static let none = LockStamp(bytes: .zero)
    /// Nobody knows what it was: the same as no stamp, itself included.
    static let unknown = LockStamp(bytes: nil)

    /// A stamp as a ticket carries it.
    init(ticket bytes: Bytes16) { self.bytes = bytes }

    private init(bytes: Bytes16?) { self.bytes = bytes }

    /// What a ticket carries; nil for an unknown one.
    var ticketBytes: Bytes16? { bytes }

    var isNone: Bool { bytes == .zero }

    /// Whether no lock came between the two.
    func isSame(as other: LockStamp) -> Bool {
        guard let bytes, let others = other.bytes else { return false }
        return bytes == others
    }
}

extension LockStamp {
    /// By the user that the namespace's parent knows: the same inside a container of the user and outside it.
    static var leaf: String { ".locked.\(UserMap.ofThisProcess.outside(geteuid()))" }
    private static let operation = "see whether the vault was locked by"

    /// The stamp as it stands now. Read it before the credential is: a lock that comes while a passphrase is being hashed
    /// is a lock.
    ///
    /// What another user has planted under its name is none: it can do no more than its removal.
    /// - Throws: `VaultError` `.file`, `.denied` or `.unsafeFile`.
    static func read(in directory: FilePath) throws(VaultError) -> LockStamp {
        // By its path in one call: this is asked at each use of a key.
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
        // Never half written: another size is none of ours.
        guard facts.st_size == size else { return .none }
        var count = 0
        let bytes = Bytes16(filling: { count = Glibc.read(opened, $0.baseAddress, $0.count) })
        if count == size { return LockStamp(bytes: bytes) }
        throw VaultError(FileError(errno: count < 0 ? errno : EIO, operation: operation, path: path), operation)
    }

    /// As `read(in:)`; unknown where it cannot be read, so that whatever is opened then counts as locked.
    static func ifReadable(in directory: FilePath) -> LockStamp { (try? read(in: directory)) ?? .unknown }

    /// Whether the name stands for nothing that a lock by this user leaves.
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
    /// Makes every stamp that was read before an old one.
    ///
    /// - Throws: `VaultError` `.file`, `.denied` or `.unsafeFile`.
    static func replace(in directory: Directory) throws(VaultError) {
        try VaultError.onFiles("lock") { () throws(FileError) in try write(SecureRandom.bytes(count: size), directory) }
    }

    /// Makes one where there is none, so that the first lock cannot be taken back by removing its stamp.
    ///
    /// - Returns: The new stamp; nil where another program came first, to lock or to unlock.
    /// - Throws: As `replace(in:)`.
    static func makeFirst(in path: FilePath) throws(VaultError) -> LockStamp? {
        let bytes = SecureRandom.bytes(count: size)
        do throws(FileError) {
            let directory = try Directory.open(path)
            do throws(FileError) {
                try directory.createExclusively(leaf, with: bytes, mode: 0o600)
            } catch {
                guard error.code == .alreadyExists else { throw error }
                // Planted, or left by something else.
                guard (try? read(in: path))?.isNone == true else { return nil }
                try write(bytes, directory)
            }
        } catch {
            throw VaultError(error, "unlock")
        }
        return bytes.withUnsafeBytes { LockStamp(bytes: Bytes16($0)) }
    }

    private static func write(_ bytes: [UInt8], _ directory: Directory) throws(FileError) {
        // Unsynced: after a restart no process is left that could compare it.
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

    /// A directory that somebody planted cannot be replaced by a file, nor removed if there is something in it.
    private static func moveAway(in directory: Directory) throws(FileError) {
        let at = directory.descriptor.rawValue
        if unlinkat(at, leaf, AT_REMOVEDIR) == 0 { return }
        try directory.move(leaf, to: directory, as: try directory.freeName("\(leaf).planted"))
    }
}

/// Which users of the enclosing user namespace the users of this one are, user_namespaces(7).
///
/// Who is root in a container of their own is the same person outside it, under another number.
struct UserMap: Sendable {
    private struct Line {
        let inside: UInt32
        let outside: UInt32
        let count: UInt32
    }

    private let lines: [Line]

    /// Everybody keeps their number where the system does not tell.
    static let ofThisProcess = UserMap(read() ?? "")

    /// - Parameter text: What `/proc/self/uid_map` holds: in each line a number inside, a number outside, a count.
    init(_ text: String) {
        lines = text.split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: " ").compactMap { UInt32($0) }
            return numbers.count == 3 ? Line(inside: numbers[0], outside: numbers[1], count: numbers[2]) : nil
        }
    }

    /// The user's number outside; the same number for one who does not exist there.
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
    /// Replaces a small file that several programs may write at once, without a lock that one of them could keep: the last
    /// one wins, and each is told that its own value was in place. Unsynced.
    ///
    /// Under random names writers do not meet, but one that clears away what crashed ones left can take a file that was
    /// made an instant ago. Its writer then begins again.
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
