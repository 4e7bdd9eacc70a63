public import PropertyLists

/// Where a value is looked for: the program's arguments if the options name them, the suite, the suites that were added, what
/// was registered.
extension SealedDefaults {
    /// A value, and whether it is text from the command line.
    enum Found {
        case value(PropertyListValue)
        case argument(PropertyListValue)
    }

    /// Sets values that hold where nothing was set: in this process only, and behind every suite.
    ///
    /// - Throws: `StoreError` `.unencodable` for what no property list can hold.
    public func register(defaults: [String: any DefaultsValue]) throws(StoreError) {
        var values: [String: PropertyListValue] = [:]
        for (key, value) in defaults { values[key] = try propertyList(of: value, key) }
        search.register(values)
        changed.raise()
    }

    /// Looks for values in another suite of the group as well, behind this one and those that were added before.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    public func addSuite(named name: String) throws(StoreError) {
        let suite = try DefaultsSuite(name)
        guard suite != file.suite else { return }
        search.add(SuiteFile(suite, in: file.store))
        changed.raise()
    }

    /// Ends that.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    public func removeSuite(named name: String) throws(StoreError) {
        search.remove(try DefaultsSuite(name))
        changed.raise()
    }

    /// Everything that a read would answer, over all domains.
    ///
    /// - Throws: `StoreError`: why a suite's file is refused, or that it is gone.
    public func dictionaryRepresentation() throws(StoreError) -> [String: PropertyListValue] {
        var values = search.registered
        for suite in search.suites.reversed() + [file] {
            values.merge(try suite.contents().values) { _, new in new }
        }
        return values.merging(search.arguments) { _, new in new }
    }

    func find(_ key: String) throws(StoreError) -> Found? {
        if !search.arguments.isEmpty, let value = search.arguments[key] { return .argument(value) }
        if let value = try file.contents().values[key] { return .value(value) }
        return try behind(key).map { .value($0) }
    }

    /// The value that the suite's own covers.
    func behind(_ key: String) throws(StoreError) -> PropertyListValue? {
        for suite in search.suites {
            if let value = try suite.contents().values[key] { return value }
        }
        return search.registered(key)
    }
}
