internal import AppGroups
internal import SharedFiles

/// Waits until every record write that may still use an older key has ended.
///
/// A writer first takes its record's lock and then reads the active key from the vault. So a lock that is taken after a
/// rotation began implies a write under the new key, and a write under an older one has held its lock since before.
/// Once each currently held lock has been free for a moment, no record of an older epoch can appear any more, and a
/// walk that finds none is final. Without this wait, a writer that was stopped between the two steps could leave a
/// record that readers refuse from the start.
struct WriterBarrier {
    /// The time limit for all locks at once. With busy writers they may never all be free.
    private static let patience = Duration.milliseconds(100)

    let container: GroupContainer
    let options: RotationOptions

    private var locks: LockFile {
        LockFile(
            directory: container.root, name: ContainerLayout.lockFile, mode: container.sharing.fileMode)
    }

    /// - Throws: `StoreError` `.lockTimeout` if a writer holds its lock for the whole time limit; `.cancelled`.
    func wait() throws(StoreError) {
        do throws(FileError) {
            do throws(FileError) { return try pass(.whole, Self.patience) } catch {
                guard error.code == .lockTimeout else { throw error }
            }
            guard let held = try HeldSlots.now(of: locks) else { return try pass(.whole, options.lockTimeout) }
            for slot in held { try pass(LockRange(slot: slot), options.lockTimeout) }
        } catch {
            throw StoreError(error, "wait for the writers of", container.group.identifier)
        }
    }

    private func pass(_ range: LockRange, _ timeout: Duration) throws(FileError) {
        try locks.acquire(range, .exclusive, timeout: timeout, isCancelled: options.isCancelled).unlock()
    }
}

/// The slots of lock files that writers hold at one moment, by `/proc/locks` (proc(5)).
enum HeldSlots {
    /// A slot of this process, to check that the list shows locks at all: that of the bytes `rotation`.
    private static let own = UInt64(0x6E6F_6974_6174_6F72) & 0x3FFF_FFFF_FFFF_FFFF
    /// The limit for a list that grows while it is read.
    private static let maximumSize = 16 << 20

    /// Returns the slots that may be held in a lock file. Other lock files' slots are included, since the numbers that
    /// the list states for a file are not everywhere those of stat(2); each superfluous slot costs one attempt.
    ///
    /// - Returns: nil if the list cannot be read or does not show held locks.
    /// - Throws: `FileError` when the lock file cannot be used.
    static func now(of locks: LockFile) throws(FileError) -> [UInt64]? {
        // Shared: concurrent rotations do not block each other.
        let proof = try locks.acquire(LockRange(slot: own), .shared, timeout: .seconds(1))
        let list = read()
        proof.unlock()
        guard let list else { return nil }
        let locks = list.split(separator: "\n").compactMap(Lock.init)
        guard locks.contains(Lock(slot: own, isExclusive: false)) else { return nil }
        return Set(locks.filter(\.isExclusive).map(\.slot)).sorted()
    }

    private static func read() -> String? {
        guard let file = try? Descriptor.openForReading(path: "/proc/locks") else { return nil }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < maximumSize {
            let count = chunk.withUnsafeMutableBytes { try? file.readSome(into: $0) }
            guard let count else { return nil }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
        return nil
    }

    private struct Lock: Equatable {
        let slot: UInt64
        let isExclusive: Bool

        init(slot: UInt64, isExclusive: Bool) {
            self.slot = slot
            self.isExclusive = isExclusive
        }

        /// `3: OFDLCK ADVISORY WRITE -1 fe:00:1234 77 77`: first and last byte of the range.
        init?(line: Substring) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count == 8, words[1] == "OFDLCK", words[6] == words[7], let slot = UInt64(words[6]) else {
                return nil
            }
            self.init(slot: slot, isExclusive: words[3] == "WRITE")
        }
    }
}
