internal import SharedFiles
internal import Synchronization

/// Shows other programs which epoch this one seals under: a shared lock on one byte for each class of a file beside the vault,
/// which ends with the process.
///
/// A rotation asks for it before an old key is destroyed. Where it cannot be taken (a read-only file system) the
/// program is not seen; its blobs still are.
final class ReaderPresence: Sendable {
    static let leaf = ".readers"

    private let file: LockFile
    private let held = Mutex<[HeldLockBox]>([])

    /// A lock that an array can hold.
    private final class HeldLockBox: Sendable {
        let lock: HeldLock
        init(_ lock: consuming HeldLock) { self.lock = lock }
    }

    init(directory: Directory) {
        file = LockFile(directory: directory, name: Self.leaf, mode: directory.fileMode)
    }

    /// The byte of a class's epoch.
    static func range(of epoch: UInt32, _ protection: ProtectionClass) -> LockRange {
        LockRange(slot: 2 * UInt64(epoch) + UInt64(protection.rawValue) - 1)
    }

    /// Moves to the epochs of now. Asked under the mutex, so that of two that move the newer one stays.
    func follow(_ epochs: () -> [(ProtectionClass, UInt32)]) {
        held.withLock { held in
            held = epochs().compactMap { protection, epoch in
                guard
                    let lock = try? file.acquire(
                        Self.range(of: epoch, protection), .shared, timeout: .milliseconds(100))
                else { return nil }
                return HeldLockBox(lock)
            }
        }
    }
}
