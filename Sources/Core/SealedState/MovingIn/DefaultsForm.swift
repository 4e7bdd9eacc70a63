internal import PropertyLists
internal import SharedFiles

/// Values that become a part of a suite of defaults; what else the suite holds stays as it is.
final class DefaultsForm: SealedForm {
    let store: SealedStore
    private let suite: String
    private let values: [String: PropertyListValue]
    private let source: String

    /// - Parameter source: What messages call the file.
    init(_ values: [String: PropertyListValue], in store: SealedStore, suite: String, from source: String) {
        self.values = values
        self.store = store
        self.suite = suite
        self.source = source
    }

    var form: MovedItem.Form { .defaults }
    var target: String { suite }

    func compare() throws(StoreError) -> SealedFormState {
        switch try store.standing(at: store.suiteForMoving(suite).file.place) {
        case .tombstone: return .different("it was deleted")
        case .nothing: return .absent
        case .value, .refused: break
        }
        let found = try standing()
        let different = Self.different(values, found)
        if !different.isEmpty { return .different("it has other values under \(Self.list(different))") }
        return values.allSatisfy { found[$0.key] != nil } ? .same : .absent
    }

    /// A suite that was never written is empty; one that is refused is an error.
    private func standing() throws(StoreError) -> [String: PropertyListValue] {
        // Opened anew each time: one that has written remembers what it wrote, and would not read it back.
        do throws(StoreError) { return try store.suiteForMoving(suite).contents() } catch {
            guard error.code == .absent else { throw error }
            return [:]
        }
    }

    func seal(replacing: Bool) throws(StoreError) {
        let (values, source, target) = (values, source, target)
        try store.suiteForMoving(suite).edit { standing in
            let different = Self.different(values, standing)
            guard replacing || different.isEmpty else {
                throw StoreError.occupied(source, target, "it has other values under \(Self.list(different))")
            }
            standing.merge(values) { _, new in new }
        }
    }

    func rehearse() throws(StoreError) {
        let suite = try store.suiteForMoving(suite)
        for (key, value) in values {
            guard let size = try? value.storedSize(), size > suite.options.maximumValueSize else { continue }
            throw StoreError(
                .tooLarge, StoreError.movingIn, source.printable,
                "The value of \(key.printable) has \(size) bytes; \(suite.options.maximumValueSize) are allowed.",
                advice: "Make a record or a file of it, and take it out of the list.")
        }
        let name = suite.file.place.name
        let whole = try standing().merging(values) { _, new in new }
        let payload = try suite.file.store.suitePayload(whole, named: name.text)
        defer { payload.wipe() }
        try store.admit(RecordFile.path(of: name), plaintext: payload.count, for: target)
    }

    func makeDurable() throws(StoreError) {
        let file = try store.suiteForMoving(suite).file
        let backend = try file.followed().backend
        do throws(FileError) { try backend.makeDurable(file.place.address) } catch {
            throw StoreError(error, "make durable", suite)
        }
    }

    private static func different(
        _ values: [String: PropertyListValue], _ found: [String: PropertyListValue]
    ) -> [String] {
        values.keys.filter { key in found[key].map { $0 != values[key] } ?? false }.sorted()
    }

    /// Keys are names, never values; a few say enough.
    private static func list(_ keys: [String]) -> String {
        let shown = keys.prefix(8).map { $0.printable }.joined(separator: ", ")
        return keys.count > 8 ? "\(shown) and \(keys.count - 8) others" : shown
    }
}

extension SealedStore {
    /// A suite whose changes survive a power loss.
    func suiteForMoving(_ name: String) throws(StoreError) -> SealedDefaults {
        var settings = DefaultsOptions()
        settings.durability = .durable
        return try defaults(suite: name, options: settings)
    }
}
