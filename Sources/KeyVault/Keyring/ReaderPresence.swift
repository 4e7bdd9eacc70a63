internal import SharedFiles
internal import Synchronization

/// Shows other programs which epoch this one seals under: a shared lock on one byte of a file beside the vault, which
/// ends with the process.
///
/// A rotation asks for it before an old key is destroyed. Where it cannot be taken (a read-only file system) the
/// program is not seen; its blobs still are.
final class ReaderPresence: Sendable {
    static let leaf = ".readers"

    private let file: LockFile
    private let held = Mutex<HeldLock?>(nil)

    init(directory: Directory) {
        file = LockFile(directory: directory, name: Self.leaf, mode: directory.fileMode)
    }

    static func range(of epoch: UInt32) -> LockRange { LockRange(slot: UInt64(epoch)) }

    /// Moves to the epoch of now; nil for none. Asked under the lock, so that of two that move the newer one stays.
    func follow(_ epoch: () -> UInt32?) {
        held.withLock { held in
            let new: HeldLock? =
                if let epoch = epoch() {
                    try? file.acquire(Self.range(of: epoch), .shared, timeout: .milliseconds(100))
                } else {
                    nil
                }
            held = new
        }
    }
}
