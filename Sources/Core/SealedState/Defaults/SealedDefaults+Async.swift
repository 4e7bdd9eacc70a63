public import PropertyLists
internal import SharedFiles

/// The changes, for tasks: they wait for the suite's lock on dedicated threads, never on those that run tasks.
///
/// Cancelling the task ends the wait with `.cancelled`; once the lock is held the change is finished.
extension SealedDefaults {
    /// Changes any number of values in one write; see the form without `async`.
    @discardableResult
    public func edit<Result: Sendable>(
        _ change: @escaping @Sendable (inout [String: PropertyListValue]) throws -> Result
    ) async throws(StoreError) -> Result {
        try await limited { options throws(StoreError) in try self.edit(options, change) }
    }

    /// Sets a key's value; see the form without `async`.
    public func set<Value>(_ value: Value, for key: DefaultsKey<Value>) async throws(StoreError) {
        try await set(value, forKey: key.name)
    }

    /// Sets a key's value; see the form without `async`.
    public func set(_ value: some DefaultsValue, forKey key: String) async throws(StoreError) {
        let list = try propertyList(of: value, key)
        try await edit { $0[key] = list }
    }

    /// Reads, changes and writes one value; see the form without `async`.
    @discardableResult
    public func update<Value>(
        _ key: DefaultsKey<Value>, _ change: @escaping @Sendable (inout Value) throws -> Void
    ) async throws(StoreError) -> Value {
        try await limited { options throws(StoreError) in try self.update(key, options, change) }
    }

    /// Removes a key from the suite; see the form without `async`.
    public func remove<Value>(_ key: DefaultsKey<Value>) async throws(StoreError) {
        try await removeObject(forKey: key.name)
    }

    /// Removes a key from the suite; see the form without `async`.
    public func removeObject(forKey key: String) async throws(StoreError) {
        try await edit { $0[key] = nil }
    }

    /// Removes the whole suite; see the form without `async`.
    public func removePersistentDomain() async throws(StoreError) {
        try await limited { options throws(StoreError) in try self.file.remove(options) }
    }

    /// Sets a key's value to any encodable one; see the form without `async`.
    public func set(encoding value: some Encodable, forKey key: String) async throws(StoreError) {
        let list = try encoded(value, key)
        try await edit { $0[key] = list }
    }

    /// Replaces the suite's contents with these values; see the form without `async`.
    public func setPersistentDomain(_ values: [String: PropertyListValue]) async throws(StoreError) {
        try await limited { options throws(StoreError) in try self.replace(values, options) }
    }

    private func limited<Value: Sendable>(
        _ body: @escaping @Sendable (EditOptions) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await SealedStore.offload(atMost: file.store.options.lockTimeout) { call throws(StoreError) in
            try body(EditOptions(timeout: call.remaining, isCancelled: { call.isCancelled }))
        }
    }
}
