internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import Synchronization
internal import SystemPackage

/// Losses and damage, remembered beside the file until a person accepts them.
///
/// `<file>.lost` is empty and records that the file was begun again after it was lost. `<file>.damaged` contains the
/// bytes that belonged to no entry when the file was compacted, each range padded to whole entries.
extension WatermarkLog {
    private var lostLeaf: String { leaf + ".lost" }
    private var damagedLeaf: String { leaf + ".damaged" }

    /// Returns the condition of a file that could be read.
    func condition(of scan: WatermarkScan, size: Int64, in directory: Directory) -> WatermarkCondition {
        let table = tableState
        if (try? directory.attributes(lostLeaf)) != nil { return .lost }
        // Another table than the named one is a new one after a loss.
        if isLost(Self.notes(scan.entries).last { $0.kind == .table }) { return .lost }
        if size == 0 { return isLost || table != .absent ? .lost : .firstContact }
        let earlier = (try? directory.attributes(damagedLeaf)).map { WatermarkScan.entryCount(of: Int($0.size)) } ?? 0
        let damaged = scan.damagedCount + earlier + (table == .damaged ? 1 : 0)
        return damaged == 0 ? .intact : .damaged(entries: damaged)
    }

    /// `true` if there is a note of a file that is now missing or empty.
    var isLost: Bool {
        guard marker?.exists == true else { return false }
        // Checked after the note: of two first programs, one may have begun the file and left the note meanwhile.
        let directory = try? Directory.openOwn(directoryPath)
        return (try? directory?.attributes(leaf).size) ?? 0 == 0
    }

    /// Records a loss before the first entry of an empty file.
    func noteLoss(of file: borrowing Descriptor, in directory: Directory) throws(FileError) {
        // The size is checked after the note, as above.
        let hasTable = try directory.exists(tableLeaf)
        guard marker?.exists == true || hasTable, try file.attributes().size == 0 else { return }
        try noteLoss(in: directory)
    }

    /// Records that the log or its table is begun again.
    func noteLoss(in directory: Directory) throws(FileError) {
        _ = try directory.openOrMake(lostLeaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, mode: 0o600, "record the loss of")
    }

    /// Saves the bytes that belong to no entry before their file is replaced.
    ///
    /// - Throws: `FileError`, `.tooLarge` for an amount that a person should examine.
    func keepDamage(
        _ damage: [Range<Int64>], of position: borrowing Position, in directory: Directory
    ) throws(FileError) {
        let sizes = damage.map { WatermarkScan.entryCount(of: $0.count) * WatermarkEntry.size }
        try requireRoom(forDamage: sizes.reduce(0, +), in: directory)
        var bytes: [UInt8] = []
        for (stretch, size) in zip(damage, sizes) {
            var part = [UInt8](repeating: 0, count: size)
            var failure: FileError?
            part.withUnsafeMutableBytes { part in
                let space = UnsafeMutableRawBufferPointer(rebasing: part[0..<stretch.count])
                do throws(FileError) {
                    _ = try position.file?.pread(into: space, at: stretch.lowerBound)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            bytes += part
        }
        try keepDamage(bytes, in: directory)
    }

    private func requireRoom(
        forDamage size: Int, upTo limit: Int = maximumDamage, in directory: Directory
    ) throws(FileError) {
        let kept = (try? directory.attributes(damagedLeaf).size) ?? 0
        guard kept <= limit - size else {
            throw FileError(.tooLarge, operation: "keep a copy of the damaged", path: directory.display(leaf))
        }
    }

    /// Adds bytes to the file for damage, durably.
    func keepDamage(
        _ bytes: [UInt8], upTo limit: Int = maximumDamage, in directory: Directory
    ) throws(FileError) {
        guard !bytes.isEmpty else { return }
        try requireRoom(forDamage: bytes.count, upTo: limit, in: directory)
        let file = try directory.openOrMake(
            damagedLeaf, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK, mode: 0o600,
            "keep a copy of the damaged entries in")
        try bytes.withRawBytes { bytes throws(FileError) in try file.write(bytes) }
        guard fdatasync(file.rawValue) == 0 else {
            throw FileError(
                errno: errno, operation: "keep a copy of the damaged entries in", path: directory.display(damagedLeaf))
        }
    }

    /// Renames the log, or the file that a compaction has replaced, if it cannot be read; nothing is deleted.
    func setUnreadableAside() throws(FileError) {
        try position.withLock { position throws(FileError) in
            let directory = try Directory.openOwn(directoryPath)
            for name in [leaf, previousLeaf] where try directory.exists(name) {
                if (try? entries(of: directory.openForReading(name))) != nil { continue }
                try directory.move(name, to: directory, as: directory.freeName("\(name).unreadable-\(UTCStamp.now())"))
                // The removal is deliberate: a new file after it is no loss.
                if name == leaf { try marker?.remove() }
            }
            position = Position()
        }
    }

    private func setTableAside(in directory: Directory) throws(FileError) {
        try setDamageAside(tableLeaf, in: directory)
        lookForTable(in: directory, forgets: true)
    }

    private func acceptDamagedSlots(in directory: Directory) throws(FileError) {
        do throws(FileError) { try remakeTable(in: directory) } catch {
            // Slots that a disk cannot read cannot be copied either.
            guard error.errno == EIO else { throw error }
            try setTableAside(in: directory)
        }
    }

    /// Ends the report of losses and damage after a person has accepted them. The damaged bytes are kept.
    func acceptLosses() throws(FileError) {
        try position.withLock { position throws(FileError) in
            let directory = try Directory.createOwn(directoryPath)
            let reported = tableState
            lookForTable(in: directory, forgets: true)
            switch tableState {
            case .absent: break
            case .intact: if hasDamagedSlots() { try acceptDamagedSlots(in: directory) }
            case .damaged: try setTableAside(in: directory)
            case .unreadable(let reason):
                // A person has not seen a fault of this moment.
                guard case .unreadable = reported else {
                    throw FileError(.io, operation: "read", path: directory.display(tableLeaf), advice: reason)
                }
                try setTableAside(in: directory)
            }
            if try directory.exists(leaf) { try setDamageAside(in: directory) }
            if try directory.exists(damagedLeaf) { try setDamageAside(damagedLeaf, in: directory) }
            if (try? directory.attributes(lostLeaf)) != nil { try directory.remove(lostLeaf, durability: .unsynced) }
            if (try? directory.attributes(leaf).size) ?? 0 == 0 {
                try marker?.remove()
                // A table alone would be the rest of a lost log.
                if let tableNote { try add(tableNote, in: directory) }
            }
            position.isMarked = false
        }
        guard let other else { return }
        // A file of the other directory that cannot be read does not count, so nothing is accepted.
        switch other.load(compacts: false).condition {
        case .lost, .damaged: try other.acceptLosses()
        default: if other.tableState == .intact, other.hasDamagedSlots() { try? other.acceptLosses() }
        }
        if let directory = try? Directory.openOwn(other.directoryPath) {
            other.lookForTable(in: directory, forgets: true)
        }
    }

    /// Moves the damage away, so that the file contains only entries.
    private func setDamageAside(in directory: Directory) throws(FileError) {
        var whole = Position()
        let scan = try read(in: directory, from: &whole)
        lookForTable(in: directory)
        // Without its table the log must not name it.
        let isWrong = isLost(Self.notes(scan.entries).last { $0.kind == .table })
        if !scan.damage.isEmpty || isWrong {
            // The file is never left empty: a file without entries of its own is moved as a whole.
            if scan.entries.allSatisfy({ isWrong && $0.kind != .state }) {
                try setDamageAside(leaf, in: directory)
            } else {
                _ = try rewrite(in: directory, unlessAbove: .infinity)
            }
        }
    }

    private func setDamageAside(_ name: String, in directory: Directory) throws(FileError) {
        let aside = name == tableLeaf ? "\(tableLeaf).damaged" : damagedLeaf
        try directory.move(name, to: directory, as: directory.freeName("\(aside)-\(UTCStamp.now())"))
    }
}

/// The condition of the file that stores accepted states.
public enum WatermarkCondition: Sendable, Hashable, CustomStringConvertible {
    /// The file did not exist: this user's first contact with the group trusts what it finds.
    case firstContact
    /// The file was read and every entry is authentic.
    case intact
    /// This many entries are, or were, not authentic; the others count. Reported until a person accepts it
    /// (`sealctl vault accept`).
    case damaged(entries: Int)
    /// The file is missing or empty although this user's programs have written it: the states accepted until then are
    /// forgotten. Reported until a person accepts it (`sealctl vault accept`).
    case lost
    /// The file could not be read, for the given reason.
    case unreadable(String)
    /// The last state could not be stored, for the given reason; it holds only within this process.
    case notPersisted(String)

    /// Returns the table's fault, unless the log has one.
    func combined(with tableFault: WatermarkCondition?) -> WatermarkCondition {
        isComplete ? tableFault ?? self : self
    }

    /// Whether all states that were ever stored are known.
    var isComplete: Bool {
        switch self {
        case .firstContact, .intact, .notPersisted: true
        case .lost, .damaged, .unreadable: false
        }
    }

    /// A one-line text for users.
    public var description: String {
        switch self {
        case .firstContact: "first contact: nothing was accepted before"
        case .intact: "intact"
        case .damaged(let entries): "damaged: \(entries) entries are not authentic"
        case .lost: "lost: the file existed before and is missing now"
        case .unreadable(let reason): "unreadable: \(reason)"
        case .notPersisted(let reason): "not persisted: \(reason)"
        }
    }
}

extension Personalization {
    /// The name of a marker; `docs/spec/watermarks.md` lists it.
    static let watermarkMarker = Personalization("SealedState.wmm1")
}

/// A note in the vault's directory that this user's programs, at this place on this machine, have written a watermark
/// file.
///
/// Without it a lost file and a first contact would look the same. The note is in another directory, so that it is not
/// lost with the file. Its name is a hash of user, machine and place, so that another home, user or machine has its
/// own.
struct WatermarkMarker: Sendable {
    private let directory: FilePath
    private let leaf: String

    /// - Parameters:
    ///   - directory: The vault's directory.
    ///   - path: The watermark file's path.
    ///   - key: The watermark key.
    init(in directory: FilePath, for path: FilePath, key: borrowing SecretBytes) {
        self.directory = directory
        var place = Array("\(geteuid()) \(path)".utf8)
        if let machine = try? MachineIdentity.read() { place += machine.tag }
        let tag = key.withUnsafeBytes { key in
            place.withRawBytes { place in
                Bytes16(filling: { BLAKE2b.hash(place, key: key, personalization: .watermarkMarker, into: $0) })
            }
        }
        leaf = ".marks.\(tag.hexadecimal)"
    }

    /// `true` if the file was written before. A failed check counts as a first contact.
    var exists: Bool {
        guard let directory = try? Directory.open(directory) else { return false }
        return (try? directory.attributes(leaf)) != nil
    }

    /// Leaves the note. In a vault's directory that this user may not write it does nothing.
    func leave() throws(FileError) {
        let directory = try Directory.open(directory)
        _ = try directory.openOrMake(
            leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, mode: directory.fileMode, "store the watermarks in")
    }

    /// Removes the note after a person accepted the loss.
    func remove() throws(FileError) {
        do throws(FileError) {
            try Directory.open(directory).remove(leaf, durability: .unsynced)
        } catch {
            if error.code != .notFound { throw error }
        }
    }
}
