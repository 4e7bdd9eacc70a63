internal import AppGroups
internal import SealedState
internal import Sealing
internal import SharedFiles

/// A file of a container of plaintext, and its target.
struct PlaintextEntry {
    /// A reason for leaving a file unchanged.
    enum Reason {
        /// A sentence: the file contains no program's plaintext, or must not be moved.
        case noPlaintext(String)
        /// A sentence: the file needs a rule that gives its target.
        case noPlace(String)
        /// A sentence: the file is a part of a database, and is moved or left with it.
        case part(String)
    }

    /// The path below the container; for a file that was set aside, its former path.
    let path: String
    /// The path where it was set aside, if it was.
    let aside: String?
    /// `nil` for a file that can become a sealed file, or a suite.
    fileprivate(set) var reason: Reason?

    init(_ entry: WalkEntry, in root: Directory, _ places: PlaintextImportExclusions) {
        if let name = Self.nameBefore(entry) {
            (path, aside) = (name, entry.path)
        } else {
            (path, aside) = (entry.path, nil)
        }
        reason = Self.reason(entry, path, root, places)
    }

    /// The suite that a property list of `Library/Preferences` becomes.
    var suite: String? {
        guard let name = Self.name(path, in: Self.preferences), name.hasSuffix(".plist"), !name.contains("/") else {
            return nil
        }
        return String(name.dropLast(".plist".count))
    }

    /// The name of the sealed file that it becomes without a rule; `nil` for a file that becomes none.
    var fileName: String? {
        guard case nil = reason, suite == nil else { return nil }
        return SealedFileName.name(ofPath: path)
    }

    private static let preferences = GroupContainer.StandardDirectory.preferences.relativePath

    private static func name(_ path: String, in directory: String) -> Substring? {
        path.hasPrefix(directory + "/") ? path.dropFirst(directory.count + 1) : nil
    }

    private static func nameBefore(_ entry: WalkEntry) -> String? {
        guard let facts = entry.attributes else { return nil }
        let slash = entry.path.lastIndex(of: "/").map { entry.path.index(after: $0) } ?? entry.path.startIndex
        return SetAsideName(String(entry.path[slash...]), of: facts).map { entry.path[..<slash] + $0.leaf }
    }

    private static func reason(
        _ entry: WalkEntry, _ path: String, _ root: Directory, _ places: PlaintextImportExclusions
    ) -> Reason? {
        guard entry.kind == .regular, let facts = entry.attributes else {
            return .noPlaintext("It is not a regular file.")
        }
        if PlaintextImportExclusions.isOwn(path) || places.isRecordDatabase(path, in: root) {
            return .noPlaintext(PlaintextImportExclusions.ownReason)
        }
        if path.hasPrefix(ContainerLayout.quarantine + "/") { return .noPlaintext("It is in quarantine.") }
        if isSealed(entry.path, root) { return .noPlaintext("It is sealed already.") }
        if isPending(path) { return .noPlaintext("It is a temporary file of an interrupted write.") }
        guard entry.path.utf8.suffix(entry.nameBytes.count).elementsEqual(entry.nameBytes) else {
            return .noPlace("Its name is not UTF-8.")
        }
        if places.isExcluded(facts) { return .noPlace(PlaintextImportExclusions.neededReason) }
        return reasonForNoFile(path)
    }

    /// Returns the reason for a path in a directory of the library's own kinds of files.
    private static func reasonForNoFile(_ path: String) -> Reason? {
        if let name = name(path, in: preferences), !name.hasSuffix(".plist") || name.contains("/") {
            return .noPlace("That directory is for suites of defaults: state its target in the map.")
        }
        if let name = name(path, in: preferences), (try? DefaultsSuite(String(name.dropLast(".plist".count)))) == nil {
            return .noPlace("Its name is not a suite name: state one in the map.")
        }
        if name(path, in: ContainerLayout.records) != nil {
            return .noPlace("That directory is for records: state its target in the map.")
        }
        guard name(path, in: preferences) == nil, SealedFileName.name(ofPath: path) == nil else { return nil }
        return .noPlace("Its path is too long for the name of a sealed file: state a name in the map.")
    }

    private static func isSealed(_ path: String, _ root: Directory) -> Bool {
        guard let head = try? root.readPrefix(path, count: BlobLayout.headerSize).bytes else { return false }
        return (try? UnverifiedHeader(parsing: head)) != nil
    }

    /// Returns whether it is a sealed file of the library: another program's hidden file of that kind is plaintext like
    /// any other.
    private static func isPending(_ path: String) -> Bool {
        let leaf = path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
        return leaf.hasPrefix(".") && leaf.hasSuffix(".new") && leaf.contains(ContainerLayout.recordSuffix + ".")
    }
}

/// The files of a container of plaintext, in the order of their paths.
struct PlaintextListing {
    /// A depth beyond any program's container.
    private static let maximumDepth = 64
    /// A limit on memory; a larger container is moved in parts.
    private static let maximumEntries = 200_000

    private(set) var entries: [PlaintextEntry] = []

    /// - Throws: `StoreError` `.sourceUnusable` for a container that cannot be read as a whole: a part must not be
    ///   taken for all of it.
    init(of root: Directory, _ places: PlaintextImportExclusions) throws(StoreError) {
        try root.walk(maximumDepth: Self.maximumDepth) { entry throws(StoreError) in
            if let error = entry.error { throw StoreError(reading: error, entry.path) }
            guard entry.kind != .directory, entry.path != "." else { return }
            guard entries.count < Self.maximumEntries else {
                throw StoreError.unusable(root.display("."), "It has over \(Self.maximumEntries) files.")
            }
            entries.append(PlaintextEntry(entry, in: root, places))
        }
        joinSetAside()
        joinDatabases(in: root)
        separateNames()
    }

    /// Leaves files that would become one sealed file.
    private mutating func separateNames() {
        let names = entries.map(\.fileName)
        let counts = Dictionary(names.compactMap { $0 }.map { ($0, 1) }, uniquingKeysWith: +)
        for (index, name) in names.enumerated() {
            guard let name, counts[name, default: 0] > 1 else { continue }
            entries[index].reason = .noPlace(
                "Another file becomes the sealed file \(name.printable) too: state their names in the map.")
        }
    }

    /// Replaces a file that an earlier call had set aside with a single entry under its former name.
    private mutating func joinSetAside() {
        var seen: Set<[UInt8]> = []
        entries = entries.filter { seen.insert(Array($0.path.utf8)).inserted }
    }

    /// Marks the files beside databases. Without their database they stay: no program could read them.
    private mutating func joinDatabases(in root: Directory) {
        let places = Dictionary(entries.map { (Array($0.path.utf8), $0.aside ?? $0.path) }) { first, _ in first }
        func head(_ path: String) -> [UInt8]? { try? root.readPrefix(path, count: DatabaseFiles.magic.count).bytes }
        for index in entries.indices {
            let entry = entries[index]
            if case .noPlaintext = entry.reason { continue }
            guard let owner = DatabaseFiles.owner(of: entry.path) else { continue }
            let place = places[Array(owner.utf8)]
            if let place, head(place) == DatabaseFiles.magic {
                entries[index].reason = .part("It is a part of the database \(owner.printable).")
                continue
            }
            guard let bytes = head(entry.aside ?? entry.path) else { continue }
            if place == nil, bytes.isEmpty {
                entries[index].reason = .noPlaintext("It is empty, and its database \(owner.printable) is missing.")
            } else if DatabaseFiles.isPart(bytes) || (place == nil && bytes.allSatisfy { $0 == 0 }) {
                entries[index].reason = .noPlace(
                    "It is a part of the database \(owner.printable), which is missing or cannot be read.")
            }
        }
    }
}
