internal import SharedFiles

/// The files of a container of plaintext, in the order of their paths.
struct PlaintextListing {
    /// Deeper than any container of a program goes.
    private static let maximumDepth = 64
    /// A bound on memory; a larger container is moved in parts.
    private static let maximumEntries = 200_000

    private(set) var entries: [PlaintextEntry] = []

    /// - Throws: `StoreError` `.sourceUnusable` for what cannot be read as a whole: a part must not pass for all of it.
    init(of root: Directory, _ places: MovingInPlaces) throws(StoreError) {
        try root.walk(maximumDepth: Self.maximumDepth) { entry throws(StoreError) in
            if let error = entry.error { throw StoreError(reading: error, entry.path) }
            guard entry.kind != .directory, entry.path != "." else { return }
            guard entries.count < Self.maximumEntries else {
                throw StoreError.unusable(root.display("."), "It has over \(Self.maximumEntries) files.")
            }
            entries.append(PlaintextEntry(entry, in: root, places))
        }
        joinSetAside()
    }

    /// A file that an earlier call had set aside counts under its own name, once.
    private mutating func joinSetAside() {
        var seen: Set<String> = []
        entries = entries.filter { seen.insert($0.path).inserted }
    }
}
