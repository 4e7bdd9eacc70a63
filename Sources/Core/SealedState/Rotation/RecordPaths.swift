internal import AppGroups
internal import SharedFiles

/// Which paths of a container are places of records.
enum RecordPaths {
    private static let records = ContainerLayout.records + "/"

    /// The record whose place a path is, if it is one.
    static func place(of path: String, in group: AppGroup) -> RecordPlace? {
        RecordFile.name(of: path).map { RecordPlace($0, group: group.identifier) }
    }

    /// Whether an entry is a record's place, or a directory that has some below it. What cannot be examined may be either.
    static func mayHold(_ entry: WalkEntry) -> Bool {
        // A record's name is text, and so is every directory above it.
        let isText = entry.path.utf8.suffix(entry.nameBytes.count).elementsEqual(entry.nameBytes)
        guard isText else { return false }
        if entry.kind != .directory, RecordFile.name(of: entry.path) != nil { return true }
        return entry.kind != .regular && mayHaveBelow(entry.path)
    }

    private static func mayHaveBelow(_ directory: String) -> Bool {
        if directory == "." { return true }
        if RecordFile.directories.contains(where: { ($0 + "/").hasPrefix(directory + "/") }) { return true }
        guard directory.hasPrefix(records) else { return false }
        return (try? RecordName(stored: directory.dropFirst(records.count) + "/x")) != nil
    }
}
