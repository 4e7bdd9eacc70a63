internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// What stands in a vault's directory since the user's last lock: 16 random bytes, replaced at each one.
///
/// Whoever has a key in memory and sees another stamp than when the vault was opened has been locked; that a stamp is gone
/// counts as another one. Where several users share a vault each has a stamp of their own: a lock is for the user's own
/// programs. Other members can remove it, and so take back a lock that a program has not met yet, if it was the first.
struct LockStamp: Equatable, Sendable {
    private static let size = 16
    private static var leaf: String { ".locked.\(geteuid())" }

    /// As much as was read: nothing where the user has never locked this vault.
    private let bytes: Bytes32
    private let count: Int

    /// The stamp as it stands now. Read it before the credential is: a lock that comes while a passphrase is being hashed
    /// is a lock.
    ///
    /// - Throws: `VaultError` `.file` or `.unsafeFile`.
    static func read(in directory: FilePath) throws(VaultError) -> LockStamp {
        // By its path in one call: this is asked at each use of a key that is held.
        let path = directory.appending(leaf)
        let opened = open(path.string, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if opened < 0 {
            let number = errno
            if number == ENOENT { return LockStamp(bytes: .zero, count: 0) }
            throw VaultError(FileError(errno: number, operation: operation, path: path.string), operation)
        }
        defer { close(opened) }
        var bytes = Bytes32.zero
        let count = withUnsafeMutableBytes(of: &bytes) { Glibc.read(opened, $0.baseAddress, $0.count) }
        if count >= 0 { return LockStamp(bytes: bytes, count: count) }
        throw VaultError(FileError(errno: errno, operation: operation, path: path.string), operation)
    }

    private static let operation = "see whether the vault was locked by"

    /// Makes every stamp that was read before an old one.
    ///
    /// - Throws: `VaultError` `.file`.
    static func replace(in directory: Directory) throws(VaultError) {
        try VaultError.onFiles("lock") { () throws(FileError) in
            let stamp = SecureRandom.bytes(count: size)
            // Unsynced: after a restart no process is left that could compare it.
            try stamp.withRawBytes { stamp throws(FileError) in
                try directory.replaceRacing(leaf, with: stamp, mode: 0o600)
            }
        }
    }
}
