internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// What this user's readers have accepted, on disk: an append-only file of authenticated entries.
///
/// Appending is one write of 128 bytes, without lock and without sync, and only when something advanced: cheap enough to
/// be done at once, so that a program that is killed forgets nothing. Entries are merged by maximum on reading, so their
/// order and their repetition do not matter (`docs/decisions/0003-watermarks-are-a-log.md`).
final class WatermarkLog: Sendable {
    /// Larger files are compacted when they are opened.
    private static let compactionSize = 64 * 1024
    /// No file is read beyond that size.
    private static let maximumSize = 64 << 20

    private let directoryPath: FilePath
    private let leaf: String
    private let key: SecretBytes

    init(directoryPath: FilePath, leaf: String, key: consuming SecretBytes) {
        self.directoryPath = directoryPath
        self.leaf = leaf
        self.key = key
    }

    /// What was read: the floors that hold now, and what is wrong with the file, if anything.
    struct Contents {
        var floors: [NameTag: Watermark] = [:]
        var condition = WatermarkCondition.firstContact
    }

    /// Reads the file. A damaged one is reported and left as it is; its intact entries count.
    func load() -> Contents {
        let directory: Directory
        let bytes: [UInt8]
        do throws(FileError) {
            directory = try Directory.open(directoryPath)
            bytes = try directory.read(leaf, limit: Self.maximumSize)
        } catch {
            return Contents(condition: error.code == .notFound ? .firstContact : .unreadable(error.description))
        }
        let (entries, damaged) = parse(bytes)
        var contents = Contents(condition: damaged == 0 ? .intact : .damaged(entries: damaged))
        for entry in entries {
            guard let floor = entry.floor(in: .current) else { continue }
            guard let known = contents.floors[entry.name] else {
                contents.floors[entry.name] = floor
                continue
            }
            if known.isBehind(floor) || (!floor.isBehind(known) && known.commitment == nil) {
                contents.floors[entry.name] = floor
            }
        }
        if damaged == 0, bytes.count > Self.compactionSize { compact(entries, in: directory) }
        return contents
    }

    /// Adds an entry.
    func append(_ entry: WatermarkEntry) throws(FileError) {
        let directory = try Directory.create(directoryPath, mode: 0o700)
        try directory.requirePrivate(allowGroup: false)
        try entry.encoded(key: key).withRawBytes { bytes throws(FileError) in
            try directory.append(leaf, bytes, mode: 0o600)
        }
    }

    private func parse(_ bytes: [UInt8]) -> (entries: [WatermarkEntry], damaged: Int) {
        var entries: [WatermarkEntry] = []
        var damaged = bytes.count % WatermarkEntry.size == 0 ? 0 : 1
        bytes.withRawBytes { bytes in
            for start in stride(from: 0, through: bytes.count - WatermarkEntry.size, by: WatermarkEntry.size) {
                let place = UnsafeRawBufferPointer(rebasing: bytes[start..<start + WatermarkEntry.size])
                if let entry = WatermarkEntry(parsing: place, key: key) { entries.append(entry) } else { damaged += 1 }
            }
        }
        return (entries, damaged)
    }

    /// Keeps the last entry of each record and boot. Best effort: an entry that is appended to the old file meanwhile is
    /// lost from disk, not from the memory of who appended it.
    private func compact(_ entries: [WatermarkEntry], in directory: Directory) {
        var latest: [NameTag: WatermarkEntry] = [:]
        for entry in entries where latest[entry.name].map({ $0.mark.isBehind(entry.mark) }) ?? true {
            latest[entry.name] = entry
        }
        guard latest.count * 4 < entries.count else { return }
        let kept = latest.values.flatMap { $0.encoded(key: key) }
        kept.withRawBytes { try? directory.replace(leaf, with: $0, mode: 0o600, durability: .unsynced) }
    }
}

/// What is known of the file that remembers accepted states.
public enum WatermarkCondition: Sendable, Hashable, CustomStringConvertible {
    /// There was none: this user's first contact with the group trusts what it finds.
    case firstContact
    /// It was read and every entry is authentic.
    case intact
    /// So many entries are not authentic; the others count.
    case damaged(entries: Int)
    /// It could not be read, for that reason.
    case unreadable(String)
    /// The last state could not be remembered, for that reason; it holds within this process only.
    case notPersisted(String)

    /// One line for a person.
    public var description: String {
        switch self {
        case .firstContact: "first contact: nothing was accepted before"
        case .intact: "intact"
        case .damaged(let entries): "damaged: \(entries) entries are not authentic"
        case .unreadable(let reason): "unreadable: \(reason)"
        case .notPersisted(let reason): "not persisted: \(reason)"
        }
    }
}
