public import PropertyLists
internal import SharedFiles

/// The suite as a whole, for tools, importers and programs that change several values at once.
extension SealedDefaults {
    /// Returns the suite's contents, without arguments, added suites and registered values.
    ///
    /// - Throws: `StoreError` with the reason why the suite's file is refused or missing.
    public func persistentDomain() throws(StoreError) -> [String: PropertyListValue] { try file.contents().values }

    /// Returns the same, for tools.
    package func contents() throws(StoreError) -> [String: PropertyListValue] { try persistentDomain() }

    /// Changes any number of values in one write, under the suite's lock: no other program's change is lost, and a
    /// reader sees all of them or none.
    ///
    /// If nothing has changed, nothing is written.
    /// - Parameter change: Gets all values of the suite. It must not use the same suite, may be called again if the
    ///   container was replaced meanwhile, and may throw: then nothing is written.
    /// - Returns: The result of `change`.
    /// - Throws: `StoreError`: `.declined` with the closure's error as its `cause`; `.tooLarge`; as
    ///   `SealedStore.write`.
    @discardableResult
    public func edit<Result>(
        _ change: (inout [String: PropertyListValue]) throws -> Result
    ) throws(StoreError) -> Result {
        try edit(EditOptions(), change)
    }

    /// Replaces the suite's contents with these values, also if the suite is refused: the old file is then kept in
    /// quarantine.
    ///
    /// - Throws: `StoreError`, as `edit`.
    public func setPersistentDomain(_ values: [String: PropertyListValue]) throws(StoreError) {
        try replace(values, EditOptions())
    }

    /// Removes the whole suite: a deletion replaces its file, so that it cannot be put back unseen. Removing a missing
    /// suite succeeds.
    ///
    /// - Throws: `StoreError`, as `SealedStore.delete`.
    public func removePersistentDomain() throws(StoreError) { try file.remove(EditOptions()) }

    /// Returns the suite's state without opening it, for tools and importers.
    ///
    /// - Throws: `StoreError` for a place that cannot be read.
    package func fileState() throws(StoreError) -> SuiteFileState { try file.fileState() }

    func replace(_ values: [String: PropertyListValue], _ options: EditOptions) throws(StoreError) {
        let large = try check([:], values)
        try file.replace(values, options)
        warn(of: large)
    }

    func edit<Result>(
        _ options: EditOptions, _ change: (inout [String: PropertyListValue]) throws -> Result
    ) throws(StoreError) -> Result {
        var large: [DefaultsWarning] = []
        let done = try file.edit(options, change) { old, new throws(StoreError) in large = try check(old, new) }
        if let lost = done.lost { self.options.onWarning?(.beganAnew(suite: suite, sequence: lost)) }
        warn(of: large)
        return done.result
    }

    /// Throws for too large values among the new ones.
    ///
    /// - Returns: The warnings about the others, for the time after the write.
    private func check(
        _ old: [String: PropertyListValue], _ new: [String: PropertyListValue]
    ) throws(StoreError) -> [DefaultsWarning] {
        var large: [DefaultsWarning] = []
        for (key, value) in new where old[key] != value {
            let size: Int
            do throws(StructureFault) { size = try value.storedSize() } catch {
                throw StoreError(writing: error, named: file.place.name.text)
            }
            guard size <= options.maximumValueSize else { throw tooLarge(key, size) }
            if size > options.warnedValueSize { large.append(.largeValue(key: key, size: size, suite: suite)) }
        }
        return large.sorted { $0.description < $1.description }
    }

    private func tooLarge(_ key: String, _ size: Int) -> StoreError {
        StoreError(
            .tooLarge, "write", file.place.name.text,
            "The value of \(key.printable) has \(size) bytes; \(options.maximumValueSize) are allowed.",
            advice: "Store it in a record or a file of its own; the old value remains.")
    }

    private func warn(of warnings: [DefaultsWarning]) {
        guard let report = options.onWarning else { return }
        for warning in warnings { report(warning) }
    }
}
