internal import AppGroups
internal import CryptoPrimitives
internal import PropertyLists
internal import SharedFiles
internal import SystemPackage

extension MovingIn {
    /// Moves a property list of `UserDefaults`, XML or binary, into a suite of defaults.
    ///
    /// All of its values go in with one write; what else the suite holds stays. A value that differs from the suite's is a
    /// conflict.
    /// - Parameters:
    ///   - path: The file.
    ///   - suite: The suite's name; that of the file without `.plist` unless stated.
    /// - Throws: `StoreError` as `record`.
    public func defaults(_ path: String, suite: String? = nil) throws(StoreError) -> MovedItem {
        let moving = try present()
        let suite = suite ?? Self.suite(ofFile: path)
        let place = try moving.store.suiteForMoving(suite).file.place
        let isDone = { () throws(StoreError) in try moving.hasValue(at: place) }
        guard let source = try moving.source(path, MovingInPlaces(of: moving.store, options), orDone: isDone) else {
            return MovedItem(path, .defaults, suite, .gone)
        }
        return try moving.move(source, toSuite: suite)
    }

    private static func suite(ofFile path: String) -> String {
        let leaf = FilePath(path).lastComponent?.string ?? path
        return leaf.hasSuffix(".plist") ? String(leaf.dropLast(".plist".count)) : leaf
    }

    func move(_ source: PlaintextSource, toSuite suite: String) throws(StoreError) -> MovedItem {
        let values = try Self.values(of: source, limit: options.maximumFileSize)
        guard !values.isEmpty else {
            return MovedItem(
                source.name, .defaults, suite, .left(reason: "The list is empty: there is nothing to seal."))
        }
        let form = DefaultsForm(values, in: store, suite: suite, from: source.name)
        var item = try Move(source: source, form: form, options: options).run()
        let archives = values.filter { $0.value.holdsKeyedArchive }.keys.sorted()
        if !archives.isEmpty {
            let keys = archives.map { $0.printable }.joined(separator: ", ")
            item.notes.append("Keyed archives were taken over as bytes: \(keys). No archive is opened here.")
        }
        return item
    }

    private static func values(
        of source: PlaintextSource, limit: Int
    ) throws(StoreError) -> [String: PropertyListValue] {
        let contents = try source.read(limit: limit)
        let parsed: (value: PropertyListValue, format: PropertyListFormat)
        do throws(StructureFault) {
            parsed = try contents.withUnsafeBytes { bytes throws(StructureFault) in try PropertyList.parse(bytes) }
        } catch { throw .malformed(source.name, error.reason, advice: "Give a property list, XML or binary.") }
        guard parsed.format != .openStep, case .dictionary(let values) = parsed.value else {
            throw .malformed(source.name, "It is no dictionary in XML or in binary form.")
        }
        guard values["$archiver"] == nil else {
            throw .malformed(source.name, "It is a keyed archive, not the values of UserDefaults.")
        }
        return values
    }
}

extension PropertyListValue {
    /// Whether an object is kept in it as `NSKeyedArchiver` writes them: bytes within the list.
    fileprivate var holdsKeyedArchive: Bool {
        switch self {
        case .data(let bytes): bytes.starts(with: "bplist00".utf8) && bytes.firstRange(of: "$archiver".utf8) != nil
        case .array(let values): values.contains(where: \.holdsKeyedArchive)
        case .dictionary(let values): values.values.contains(where: \.holdsKeyedArchive)
        default: false
        }
    }
}
