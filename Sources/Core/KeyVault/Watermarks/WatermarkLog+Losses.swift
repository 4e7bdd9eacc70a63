internal import AppGroups
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// What was lost or damaged, remembered beside the file until a person accepts it.
///
/// `<file>.lost` is empty and says that the file was begun anew after it was lost. `<file>.damaged` holds the bytes that
/// belonged to no entry when the file was compacted, each stretch filled up to whole entries.
extension WatermarkLog {
    private var lostLeaf: String { leaf + ".lost" }
    private var damagedLeaf: String { leaf + ".damaged" }

    /// What is to be said of a file that could be read.
    func condition(of scan: WatermarkScan, size: Int64, in directory: Directory) -> WatermarkCondition {
        if (try? directory.attributes(lostLeaf)) != nil { return .lost }
        if size == 0 { return isLost ? .lost : .firstContact }
        let earlier = (try? directory.attributes(damagedLeaf)).map { WatermarkScan.entryCount(of: Int($0.size)) } ?? 0
        let damaged = scan.damagedCount + earlier
        return damaged == 0 ? .intact : .damaged(entries: damaged)
    }

    /// Whether there is a note of a file that is gone or empty.
    var isLost: Bool {
        guard marker?.exists == true else { return false }
        // Looked at after the note: of two first programs one may have begun the file, and left the note, meanwhile.
        let directory = try? Directory.openOwn(directoryPath)
        return (try? directory?.attributes(leaf).size) ?? 0 == 0
    }

    /// Called before the first entry of a file that was empty.
    func noteLoss(of file: borrowing Descriptor, in directory: Directory) throws(FileError) {
        // The size after the note, as above.
        guard marker?.exists == true, try file.attributes().size == 0 else { return }
        _ = try directory.openOrMake(lostLeaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, mode: 0o600, "note the loss of")
    }

    /// Keeps the bytes that belong to no entry, before the file that holds them is replaced.
    ///
    /// - Throws: `FileError`, `.tooLarge` where there is so much that somebody should look.
    func keepDamage(
        _ damage: [Range<Int>], of position: borrowing Position, in directory: Directory
    ) throws(FileError) {
        var bytes: [UInt8] = []
        for stretch in damage {
            var part = [UInt8](repeating: 0, count: WatermarkScan.entryCount(of: stretch.count) * WatermarkEntry.size)
            var failure: FileError?
            part.withUnsafeMutableBytes { part in
                let space = UnsafeMutableRawBufferPointer(rebasing: part[0..<stretch.count])
                do throws(FileError) {
                    _ = try position.file?.pread(into: space, at: Int64(stretch.lowerBound))
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            bytes += part
        }
        guard !bytes.isEmpty else { return }
        let kept = (try? directory.attributes(damagedLeaf).size) ?? 0
        guard kept + Int64(bytes.count) <= Self.maximumSize else {
            throw FileError(.tooLarge, operation: "keep what is damaged of", path: directory.display(leaf))
        }
        let file = try directory.openOrMake(
            damagedLeaf, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK, mode: 0o600, "keep what is damaged in")
        try bytes.withRawBytes { bytes throws(FileError) in try file.write(bytes) }
        guard fdatasync(file.rawValue) == 0 else {
            throw FileError(errno: errno, operation: "keep what is damaged in", path: directory.display(damagedLeaf))
        }
    }

    /// Takes a file out of the way whose entries are not this vault's, or that cannot be read; nothing is deleted.
    func setAside(as ending: String) throws(FileError) {
        try position.withLock { position throws(FileError) in
            let directory = try Directory.openOwn(directoryPath)
            try directory.move(leaf, to: directory, as: try directory.freeName("\(leaf).\(ending)-\(UTCStamp.now())"))
            // On purpose: what comes next is no loss.
            try marker?.remove()
            position = Position()
        }
    }

    /// Ends the report of what was lost and damaged: a person has taken note of it. The damaged bytes are kept.
    func acceptLosses() throws(FileError) {
        try position.withLock { position throws(FileError) in
            let directory = try Directory.createOwn(directoryPath)
            let size = try? directory.attributes(leaf).size
            if size != nil { try setDamageAside(in: directory) }
            if (try? directory.attributes(lostLeaf)) != nil { try directory.remove(lostLeaf, durability: .unsynced) }
            if (try? directory.attributes(leaf).size) ?? 0 == 0 { try marker?.remove() }
            position.isMarked = false
        }
    }

    /// The file is left with its entries alone.
    private func setDamageAside(in directory: Directory) throws(FileError) {
        var whole = Position()
        let scan = try read(in: directory, from: &whole)
        if !scan.damage.isEmpty {
            // A file is never left empty: one without any entry goes as a whole.
            if scan.entries.isEmpty {
                try setDamageAside(leaf, in: directory)
            } else {
                _ = try rewrite(in: directory, unlessAbove: .infinity)
            }
        }
        if (try? directory.attributes(damagedLeaf)) != nil { try setDamageAside(damagedLeaf, in: directory) }
    }

    private func setDamageAside(_ name: String, in directory: Directory) throws(FileError) {
        try directory.move(name, to: directory, as: directory.freeName("\(damagedLeaf)-\(UTCStamp.now())"))
    }
}

/// What is known of the file that remembers accepted states.
public enum WatermarkCondition: Sendable, Hashable, CustomStringConvertible {
    /// There was none: this user's first contact with the group trusts what it finds.
    case firstContact
    /// It was read and every entry is authentic.
    case intact
    /// So many entries are, or were, not authentic; the others count. Told until a person accepts it
    /// (`sealctl vault accept`).
    case damaged(entries: Int)
    /// This user's programs have written it before, and it is gone or empty: what they accepted until then is forgotten.
    /// Told until a person accepts it (`sealctl vault accept`).
    case lost
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
        case .lost: "lost: it was there before, and is gone"
        case .unreadable(let reason): "unreadable: \(reason)"
        case .notPersisted(let reason): "not persisted: \(reason)"
        }
    }
}
