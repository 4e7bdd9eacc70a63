internal import PropertyLists

/// Watching, across processes.
extension SealedDefaults {
    /// Watches a key: its present value, then every other one.
    ///
    /// ```swift
    /// for await theme in try defaults.changes(of: .theme) { show(theme) }
    /// ```
    /// - Throws: `StoreError` `.watchLimit` when the system gives no more watches, with the setting that raises the limit.
    public func changes<Value>(of key: DefaultsKey<Value>) throws(StoreError) -> DefaultsValues<Value> {
        try DefaultsValues(of: key, in: self)
    }

    /// Watches everything: which keys have changed since this call, whichever program changed them.
    ///
    /// - Throws: `StoreError` `.watchLimit`, as `changes(of:)`.
    public func changes() throws(StoreError) -> DefaultsChanges {
        let watch = try DefaultsWatch(self)
        // A suite that is refused is told first.
        return DefaultsChanges(watch, since: (try? valuesOfSuites()) ?? [:])
    }

    /// What a read would answer, but for the arguments.
    func valuesOfSuites() throws(StoreError) -> [String: PropertyListValue] {
        let suites = search.suites
        let registered = search.registered
        let own = try file.contents().values
        if suites.isEmpty && registered.isEmpty { return own }
        var values = registered
        for suite in suites.reversed() { values.merge(try suite.contents().values) { _, new in new } }
        return values.merging(own) { _, new in new }
    }

    func value<Value>(
        _ key: DefaultsKey<Value>, from found: PropertyListValue?, isArgument: Bool
    ) throws(StoreError) -> Value {
        guard let found else { return key.defaultValue }
        return try read(isArgument ? .argument(found) : .value(found), as: Value.self, key.name)
    }
}
