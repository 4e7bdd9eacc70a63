internal import Glibc
internal import SharedFiles
internal import Synchronization

/// A running program that has the vault open and still seals in an epoch.
public struct EpochHolder: Sendable, Hashable {
    /// The epoch of the key that it would seal with.
    public let epoch: UInt32
    /// The class of that key.
    public let protection: ProtectionClass
    /// Its process id, as this process sees it.
    public let pid: Int32
    /// The path of its executable; empty without permission to read it.
    public let executable: String

    package init(epoch: UInt32, protection: ProtectionClass = .afterFirstUnlock, pid: Int32, executable: String) {
        self.epoch = epoch
        self.protection = protection
        self.pid = pid
        self.executable = executable
    }
}

extension Vault {
    /// Returns the programs that hold an epoch, including this one, by epoch and process id.
    ///
    /// Only programs that this user may inspect: only root can read `/proc/<pid>/fd` of other users' processes, and no
    /// process outside this one's process namespace is visible. `isEpochHeld(_:)` detects those as well, without naming
    /// them.
    package func epochHolders() -> [EpochHolder] {
        guard let file = try? directory.attributes(ReaderPresence.leaf),
            let processes = try? Directory.open("/proc").entries()
        else { return [] }
        return processes.compactMap { Int32($0.name) }
            .flatMap { EpochLocks(pid: $0, file: file).holders }
            .sorted { ($0.epoch, $0.pid) < ($1.epoch, $1.pid) }
    }
}

/// The locks of one process on a vault's readers file, proc(5): `/proc/<pid>/fdinfo/<number>` has a line
/// `lock:` for each lock of that open file.
private struct EpochLocks {
    let pid: Int32
    let file: FileAttributes

    var holders: [EpochHolder] {
        let offsets = descriptors.flatMap(offsets(of:))
        guard !offsets.isEmpty else { return [] }
        let executable = linkTarget("/proc/\(pid)/exe") ?? ""
        return Set(offsets).map { offset in
            EpochHolder(
                epoch: UInt32(offset / 2), protection: offset % 2 == 0 ? .afterFirstUnlock : .whenUnlocked, pid: pid,
                executable: executable)
        }
    }

    /// The process's open files that are the vault's readers file.
    private var descriptors: [String] {
        let names = (try? Directory.open("/proc/\(pid)/fd").entries()) ?? []
        return names.map(\.name).filter { name in
            let path = "/proc/\(pid)/fd/\(name)"
            // Check the link first: a stat of the target may block on a remote file server.
            guard linkTarget(path)?.hasSuffix("/" + ReaderPresence.leaf) == true else { return false }
            var status = stat()
            return stat(path, &status) == 0 && UInt64(status.st_ino) == file.inode
                && UInt64(status.st_dev) == file.device
        }
    }

    private func offsets(of descriptor: String) -> [UInt64] {
        guard let info = try? Descriptor.openForReading(path: "/proc/\(pid)/fdinfo/\(descriptor)") else { return [] }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = (try? info.read(into: buffer)) ?? 0
            return String(decoding: buffer[0..<count], as: UTF8.self).split(separator: "\n").compactMap(Self.offset)
        }
    }

    /// Parses `lock: 1: OFDLCK ADVISORY READ -1 fe:00:1234 7 7`: first and last byte of the range; a byte represents a
    /// class and an epoch.
    private static func offset(ofLine line: Substring) -> UInt64? {
        let words = line.split(whereSeparator: \.isWhitespace)
        guard words.count == 9, words[0] == "lock:", words[2] == "OFDLCK", words[4] == "READ", words[7] == words[8]
        else { return nil }
        return UInt64(words[7]).flatMap { $0 / 2 <= UInt64(UInt32.max) ? $0 : nil }
    }

    private func linkTarget(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { space in
            let count = space.baseAddress.map { readlink(path, $0, space.count) } ?? -1
            guard count > 0 else { return nil }
            return String(decoding: space[0..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}

/// Publishes the epoch in which this program seals: a shared lock on one byte for each class of a file beside the
/// vault. The lock ends with the process.
///
/// A rotation checks it before it destroys an old key. If the lock cannot be taken (a read-only file system), the
/// program is not detected, but its blobs still are.
final class ReaderPresence: Sendable {
    static let leaf = ".readers"

    private let file: LockFile
    private let held = Mutex<[HeldLockBox]>([])

    /// A lock that can be stored in an array.
    private final class HeldLockBox: Sendable {
        let lock: HeldLock
        init(_ lock: consuming HeldLock) { self.lock = lock }
    }

    init(directory: Directory) {
        file = LockFile(directory: directory, name: Self.leaf, mode: directory.fileMode)
    }

    /// Returns the byte of a class's epoch.
    static func range(of epoch: UInt32, _ protection: ProtectionClass) -> LockRange {
        LockRange(slot: 2 * UInt64(epoch) + UInt64(protection.rawValue) - 1)
    }

    /// Moves to the present epochs. The closure runs under the mutex, so that of two concurrent moves the newer one
    /// remains.
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
