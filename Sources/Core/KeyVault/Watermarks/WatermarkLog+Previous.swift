internal import Sealing
internal import SharedFiles

/// The file that a compaction replaces keeps a second name, `<file>.previous`, until everything in it was carried over.
///
/// What was appended to it behind the compactor's back would else be lost with a compactor that is killed, or fails, right
/// after the replace. There is one such file at most: the next compaction takes over what it finds there.
extension WatermarkLog {
    private var previousLeaf: String { leaf + ".previous" }

    /// What a file holds that was replaced and perhaps not carried over.
    func previousEntries(in directory: Directory) throws(FileError) -> [WatermarkEntry] {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try directory.read(previousLeaf, limit: Int(Self.maximumSize))
        } catch {
            guard error.code == .notFound else { throw error }
            return []
        }
        return bytes.withRawBytes { WatermarkScan($0, key: key).entries }
    }

    /// Gives the file that is about to be replaced its second name.
    func keepPrevious(in directory: Directory) throws(FileError) {
        do throws(FileError) {
            try directory.link(leaf, as: previousLeaf)
        } catch {
            // Not every file system has second names; a file must not grow without end for that.
            if error.code == .alreadyExists { throw error }
        }
    }

    /// Takes the second name from a file that was not replaced, for its compactor was killed before that: a file with two
    /// names is no lock. One that is about to replace it loses no more than the care for its own death.
    func dropUnreplaced(in directory: Directory) throws(FileError) {
        guard let facts = try? directory.attributes(leaf), facts.nlink > 1 else { return }
        try removePrevious(facts.inode, in: directory)
    }

    /// Takes over what an earlier compaction has left. It may be under way still, and then adds the same once more.
    func adoptPrevious(in directory: Directory) throws(FileError) {
        guard let inode = try? directory.attributes(previousLeaf).inode else { return }
        try add(Self.condensed(previousEntries(in: directory)), in: directory)
        try removePrevious(inode, in: directory)
    }

    /// Takes the second name away, unless a later compaction uses it by now.
    func removePrevious(_ inode: UInt64, in directory: Directory) throws(FileError) {
        guard let facts = try? directory.attributes(previousLeaf), facts.inode == inode else { return }
        do throws(FileError) { try directory.remove(previousLeaf, durability: .unsynced) } catch {
            if error.code != .notFound { throw error }
        }
    }

    /// Adds entries to whichever file has the name in the end.
    func add(_ entries: [WatermarkEntry], in directory: Directory) throws(FileError) {
        guard !entries.isEmpty else { return }
        let bytes = entries.flatMap { $0.encoded(key: key) }
        for _ in 0..<32 {
            let inode = try directory.attributes(leaf).inode
            try bytes.withRawBytes { bytes throws(FileError) in try directory.append(leaf, bytes, mode: 0o600) }
            if try directory.attributes(leaf).inode == inode { return }
        }
        throw FileError(.lockTimeout, operation: "append to", path: directory.display(leaf))
    }
}
