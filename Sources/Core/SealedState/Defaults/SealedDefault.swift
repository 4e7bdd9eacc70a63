internal import Synchronization

/// A default as a property.
///
/// ```swift
/// @SealedDefault("theme", in: settings) var theme = Theme.light
/// ```
/// A property cannot throw: if there is no value to believe, reading returns the last value that was read, or the
/// property's own before any was read. The error is passed to `onFailure` of the suite's options, as is that of a value
/// that could not be set. `$theme` has the calls that throw.
///
/// `settings.count += 1` is a read and then a write: a value that another program writes in between is lost, as with
/// every property. Use `settings.$count.update { $0 += 1 }` for a value computed from the old one; it loses nothing.
/// Since the value that was read may be a replacement, a property whose last reading failed is not set until a reading
/// succeeds: `onFailure` is called with the same error again. `settings.$count.set(1)` sets it regardless.
@propertyWrapper
public struct SealedDefault<Value: DefaultsValue & Sendable>: Sendable {
    private final class Memory: Sendable {
        let last: Mutex<Value?> = Mutex(nil)
        /// The error of the last reading; nil if it succeeded.
        let unread: Mutex<StoreError?> = Mutex(nil)
    }

    /// The calls that throw.
    public let projectedValue: SealedDefaultAccess<Value>
    private let memory = Memory()

    /// Creates a property with the value that it has if none was set.
    ///
    /// - Parameters:
    ///   - wrappedValue: The value if none was set.
    ///   - name: The key in the suite.
    ///   - defaults: The suite.
    public init(wrappedValue: Value, _ name: String, in defaults: SealedDefaults) {
        self.init(DefaultsKey(name, default: wrappedValue), in: defaults)
    }

    /// Creates a property that may be missing: then it is nil.
    public init<Wrapped>(_ name: String, in defaults: SealedDefaults) where Value == Wrapped? {
        self.init(DefaultsKey(name), in: defaults)
    }

    /// Creates a property for a key.
    public init(_ key: DefaultsKey<Value>, in defaults: SealedDefaults) {
        projectedValue = SealedDefaultAccess(key: key, defaults: defaults)
    }

    /// The value. Setting it writes the suite before it returns.
    public var wrappedValue: Value {
        get {
            do throws(StoreError) {
                let value = try projectedValue.value()
                memory.last.withLock { $0 = value }
                memory.unread.withLock { $0 = nil }
                return value
            } catch {
                memory.unread.withLock { $0 = error }
                report(error)
                return memory.last.withLock { $0 } ?? projectedValue.key.defaultValue
            }
        }
        nonmutating set {
            // The new value may be computed from the replacement that the reading returned, and would overwrite the
            // real one.
            if let error = memory.unread.withLock({ $0 }) { return report(error) }
            do throws(StoreError) { try projectedValue.set(newValue) } catch { report(error) }
        }
    }

    private func report(_ error: StoreError) { projectedValue.defaults.options.onFailure?(error) }
}

/// The calls behind a `@SealedDefault` property that throw.
public struct SealedDefaultAccess<Value: DefaultsValue & Sendable>: Sendable {
    /// The key.
    public let key: DefaultsKey<Value>
    /// The suite.
    public let defaults: SealedDefaults

    /// Returns the value; see `SealedDefaults.value(for:)`.
    public func value() throws(StoreError) -> Value { try defaults.value(for: key) }

    /// Sets the value; nil removes it.
    public func set(_ value: Value) throws(StoreError) { try defaults.set(value, for: key) }

    /// Reads, changes and writes the value under the suite's lock, and returns the written value; see
    /// `SealedDefaults.update`.
    @discardableResult
    public func update(_ change: (inout Value) throws -> Void) throws(StoreError) -> Value {
        try defaults.update(key, change)
    }

    /// Removes the value from the suite.
    public func remove() throws(StoreError) { try defaults.remove(key) }

    /// Sets the value; see the form without `async`.
    public func set(_ value: Value) async throws(StoreError) { try await defaults.set(value, for: key) }

    /// Reads, changes and writes the value under the suite's lock, and returns the written value; see the form without
    /// `async`.
    @discardableResult
    public func update(_ change: @escaping @Sendable (inout Value) throws -> Void) async throws(StoreError) -> Value {
        try await defaults.update(key, change)
    }

    /// Removes the value from the suite; see the form without `async`.
    public func remove() async throws(StoreError) { try await defaults.remove(key) }

    /// Returns the present value, then every other one; see `SealedDefaults.changes(of:)`.
    public func changes() throws(StoreError) -> DefaultsValues<Value> { try defaults.changes(of: key) }
}
