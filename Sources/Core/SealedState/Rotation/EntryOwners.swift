internal import SharedFiles

/// To whom the entries of a walk belong; what cannot be examined belongs to whom its directory belongs to.
struct EntryOwners {
    /// The owners of the directories on the way, the first directory's first.
    private var directories: [UInt32?]

    init(root: Directory) { directories = [(try? root.attributes("."))?.uid] }

    /// Asked of each entry, in the order of the walk.
    mutating func owner(of entry: WalkEntry) -> UInt32? {
        let depth = max(entry.depth, 0)
        let above = depth > 0 && depth <= directories.count ? directories[depth - 1] : nil
        let owner = entry.attributes?.uid ?? above
        if entry.kind == .directory, depth > 0, depth <= directories.count {
            directories.removeSubrange(depth...)
            directories.append(owner)
        }
        return owner
    }
}
