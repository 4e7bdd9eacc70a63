internal import Sealing
internal import SharedFiles

/// Compaction of the file.
extension WatermarkLog {
    /// Rewrites a file that contains much more than the valid entries; their size decides when the next try is due.
    func compact(in directory: Directory, _ position: inout Position) {
        position.compaction = max(Self.compactionSize, 2 * position.size)
        guard let left = try? rewrite(in: directory, unlessAbove: 0.25) else { return }
        position.compaction = max(Self.compactionSize, 2 * left)
    }

    /// Replaces the file by one with only the valid entries: for each record the present state, and the state after a
    /// restart. Bytes that belong to no entry move to the file for damage.
    ///
    /// No concurrent append is lost: the appending process sees that its file lost its name and appends again, and
    /// entries written before that are carried over. The replacement is durable, because a power loss must not take
    /// more than the entries of the last moments.
    /// - Parameter share: Does nothing if more than this share of the file would remain.
    /// - Returns: The remaining size.
    func rewrite(in directory: Directory, unlessAbove share: Double) throws(FileError) -> Int64 {
        try dropUnreplaced(in: directory)
        // The file is its own lock: of two processes one compacts, and the other finds another file.
        let lock = try LockFile(directory: directory, name: leaf).acquire(.whole, .exclusive, timeout: .zero)
        try adoptPrevious(in: directory)
        var whole = Position()
        let scan = try read(in: directory, from: &whole)
        // An empty file would look like a lost one, so one entry remains even if none is valid.
        guard let last = scan.entries.last else { return whole.size }
        let condensed = Self.condensed(scan.entries)
        let kept = condensed.isEmpty ? [last] : condensed
        let size = Int64(kept.count * WatermarkEntry.size)
        guard Double(size) < share * Double(whole.size) else { return whole.size }
        try keepDamage(scan.damage, of: whole, in: directory)
        guard lock.isStillNamed() else {
            throw FileError(.lockFileReplaced, operation: "compact", path: directory.display(leaf))
        }
        try keepPrevious(in: directory)
        let bytes = kept.flatMap { $0.encoded(key: key) }
        try bytes.withRawBytes { bytes throws(FileError) in
            try directory.replace(leaf, with: bytes, mode: 0o600, durability: .durable)
        }
        try carryOver(from: whole, in: directory)
        try removePrevious(whole.inode, in: directory)
        return size
    }

    /// Returns the fewest entries with the same meaning, in this boot and after a restart.
    static func condensed(_ entries: [WatermarkEntry]) -> [WatermarkEntry] {
        var now: [NameTag: AcceptedState] = [:]
        var later: [NameTag: AcceptedState] = [:]
        for entry in entries {
            if entry.boot.isSame(as: .current) { now[entry.name, default: entry.state].merge(entry.state) }
            if let state = entry.state.afterRestart { later[entry.name, default: state].merge(state) }
        }
        let kept = now.map { WatermarkEntry(name: $0.key, state: $0.value) }
        return kept
            + later.compactMap { name, state in
                // The state of this boot already implies it.
                if let known = now[name]?.afterRestart, known == merged(known, state) { return nil }
                return WatermarkEntry(name: name, state: state, boot: .unknown)
            }
    }

    private static func merged(_ first: AcceptedState, _ second: AcceptedState) -> AcceptedState {
        var result = first
        result.merge(second)
        return result
    }

    /// Carries over the entries appended to the old file after it was read.
    private func carryOver(from old: borrowing Position, in directory: Directory) throws(FileError) {
        guard let size = try old.file?.attributes().size, size > old.offset else { return }
        let count = Int(min(size - old.offset, Self.maximumSize))
        let offset = old.offset
        let late = try withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) {
            (buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> [WatermarkEntry] in
            let count = try old.file?.pread(into: buffer, at: offset) ?? 0
            return WatermarkScan(UnsafeRawBufferPointer(rebasing: buffer[0..<count]), key: key).entries
        }
        try add(late, in: directory)
    }
}
