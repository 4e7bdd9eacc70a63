internal import AppGroups
internal import CryptoPrimitives
internal import PropertyLists
public import SealedState
internal import SharedFiles
internal import SystemPackage

extension PlaintextImporter {
    /// Moves a property list of `UserDefaults`, XML or binary, into a suite of defaults.
    ///
    /// One write adds all of its values; other values of the suite stay. A value that differs from the suite's is a
    /// conflict.
    /// - Parameters:
    ///   - path: The file.
    ///   - suite: The suite's name; by default that of the file without `.plist`.
    /// - Throws: `StoreError` as `record`.
    public func defaults(_ path: String, suite: String? = nil) throws(StoreError) -> MovedItem {
        let importer = try present()
        let suite = suite ?? Self.suite(ofFile: path)
        let place = try importer.store.suiteForImport(suite).file.place
        let isDone = { () throws(StoreError) in try importer.hasValue(at: place) }
        guard
            let source = try importer.source(
                path, PlaintextImportExclusions(of: importer.store, options), orDone: isDone)
        else {
            return MovedItem(path, .defaults, suite, .gone)
        }
        return try importer.move(source, toSuite: suite)
    }

    private static func suite(ofFile path: String) -> String {
        let leaf = FilePath(path).lastComponent?.string ?? path
        return leaf.hasSuffix(".plist") ? String(leaf.dropLast(".plist".count)) : leaf
    }

    func move(_ source: PlaintextSource, toSuite suite: String) throws(StoreError) -> MovedItem {
        let values = try Self.values(of: source, limit: options.maximumFileSize)
        guard !values.isEmpty else {
            return MovedItem(
                source.name, .defaults, suite, .left(reason: "The property list is empty: there is nothing to seal."))
        }
        let form = DefaultsForm(values, in: store, suite: suite, from: source.name)
        var item = try Move(source: source, form: form, options: options).run()
        let archives = values.filter { $0.value.holdsKeyedArchive }.keys.sorted()
        if !archives.isEmpty {
            let keys = archives.map { $0.printable }.joined(separator: ", ")
            item.notes.append("Keyed archives were imported as bytes: \(keys). The import does not open archives.")
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
            throw .malformed(source.name, "It is not a dictionary in XML or binary form.")
        }
        guard values["$archiver"] == nil else {
            throw .malformed(source.name, "It is a keyed archive, not the values of UserDefaults.")
        }
        return values
    }
}

extension PropertyListValue {
    /// A Boolean value that indicates whether the list contains an object in the format of `NSKeyedArchiver`: bytes
    /// within the list.
    fileprivate var holdsKeyedArchive: Bool {
        switch self {
        case .data(let bytes): bytes.starts(with: "bplist00".utf8) && bytes.firstRange(of: "$archiver".utf8) != nil
        case .array(let values): values.contains(where: \.holdsKeyedArchive)
        case .dictionary(let values): values.values.contains(where: \.holdsKeyedArchive)
        default: false
        }
    }
}

/// Values that become a part of a suite of defaults; other values of the suite stay unchanged.
final class DefaultsForm: SealedForm {
    let store: SealedStore
    private let suite: String
    private let values: [String: PropertyListValue]
    private let source: String

    /// - Parameter source: The file's name for messages.
    init(_ values: [String: PropertyListValue], in store: SealedStore, suite: String, from source: String) {
        self.values = values
        self.store = store
        self.suite = suite
        self.source = source
    }

    var form: MovedItem.Form { .defaults }
    var target: String { suite }

    func compare() throws(StoreError) -> SealedFormState {
        switch try store.reader.existing(at: store.suiteForImport(suite).file.place) {
        case .tombstone: return .different("it was deleted")
        case .nothing: return .absent
        case .value, .refused: break
        }
        let found = try existing()
        let different = Self.different(values, found)
        if !different.isEmpty { return .different("it has other values under \(different.shortList)") }
        return values.allSatisfy { found[$0.key] != nil } ? .same : .absent
    }

    /// Returns the suite's values. A suite that was never written is empty; one that is refused is an error.
    private func existing() throws(StoreError) -> [String: PropertyListValue] {
        // Opened again each time: an instance that has written remembers its values, and would not read them back.
        do throws(StoreError) { return try store.suiteForImport(suite).contents() } catch {
            guard error.code == .absent else { throw error }
            return [:]
        }
    }

    func seal(replacing: Bool) throws(StoreError) {
        let (values, source, target) = (values, source, target)
        try store.suiteForImport(suite).edit { existing in
            let different = Self.different(values, existing)
            guard replacing || different.isEmpty else {
                throw StoreError.occupied(source, target, "it has other values under \(different.shortList)")
            }
            existing.merge(values) { _, new in new }
        }
    }

    func rehearse() throws(StoreError) {
        let suite = try store.suiteForImport(suite)
        for (key, value) in values {
            guard let size = try? value.storedSize(), size > suite.options.maximumValueSize else { continue }
            throw StoreError(
                .tooLarge, StoreError.plaintextImport, source.printable,
                "The value of \(key.printable) has \(size) bytes; \(suite.options.maximumValueSize) are allowed.",
                advice: "Import it as a record or a file, and remove it from the property list.")
        }
        let name = suite.file.place.name
        let whole = try existing().merging(values) { _, new in new }
        let payload = try suite.file.store.writer.suitePayload(whole, named: name.text)
        defer { payload.wipe() }
        try store.admit(RecordFile.path(of: name), plaintext: payload.count, for: target)
    }

    func makeDurable() throws(StoreError) {
        let file = try store.suiteForImport(suite).file
        try file.followed().makeDurable(file.place)
    }

    private static func different(
        _ values: [String: PropertyListValue], _ found: [String: PropertyListValue]
    ) -> [String] {
        values.keys.filter { key in found[key].map { $0 != values[key] } ?? false }.sorted()
    }
}

extension SealedStore {
    /// Returns a suite whose changes survive a power loss.
    func suiteForImport(_ name: String) throws(StoreError) -> SealedDefaults {
        var settings = DefaultsOptions()
        settings.durability = .durable
        return try defaults(suite: name, options: settings)
    }
}
