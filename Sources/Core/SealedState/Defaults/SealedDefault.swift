internal import Synchronization

/// A default as a property.
///
/// ```swift
/// @SealedDefault("theme", in: settings) var theme = Theme.light
/// ```
/// A property cannot throw: reading gives the last value that was read where there is none to believe, and before one was
/// read the property's own; what was wrong goes to `onFailure` of the suite's options, as does a value that could not be
/// set. `$theme` has the calls that throw.
///
/// `settings.count += 1` is a read and then a write: what another program has written in between is lost, as with every
/// property. Whatever rests on the old value belongs into `settings.$count.update { $0 += 1 }`, which loses nothing. And since
/// the value that was read may be a stand-in, a property whose last reading failed is not set, until a reading succeeds:
/// `onFailure` is told of the same error again. `settings.$count.set(1)` sets it all the same.
@propertyWrapper
public struct SealedDefault<Value: DefaultsValue & Sendable>: Sendable {
    private final class Memory: Sendable {
        let last: Mutex<Value?> = Mutex(nil)
        /// Why the last reading failed; nil where it did not.
        let unread: Mutex<StoreError?> = Mutex(nil)
    }

    /// The calls that throw.
    public let projectedValue: SealedDefaultAccess<Value>
    private let memory = Memory()

    /// - Parameters:
    ///   - wrappedValue: What holds where nothing was set.
    ///   - name: The key in the suite.
    ///   - defaults: The suite.
    public init(wrappedValue: Value, _ name: String, in defaults: SealedDefaults) {
        self.init(DefaultsKey(name, default: wrappedValue), in: defaults)
    }

    /// A property that may be missing: then it is nil.
    public init<Wrapped>(_ name: String, in defaults: SealedDefaults) where Value == Wrapped? {
        self.init(DefaultsKey(name), in: defaults)
    }

    /// A property for a key.
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
                tell(error)
                return memory.last.withLock { $0 } ?? projectedValue.key.defaultValue
            }
        }
        nonmutating set {
            // It may have been made of the stand-in that the reading gave, and would take the real one's place.
            if let error = memory.unread.withLock({ $0 }) { return tell(error) }
            do throws(StoreError) { try projectedValue.set(newValue) } catch { tell(error) }
        }
    }

    private func tell(_ error: StoreError) { projectedValue.defaults.options.onFailure?(error) }
}

/// The calls behind a `@SealedDefault` property that throw.
public struct SealedDefaultAccess<Value: DefaultsValue & Sendable>: Sendable {
    /// The key.
    public let key: DefaultsKey<Value>
    /// The suite.
    public let defaults: SealedDefaults

    /// The value; see `SealedDefaults.value(for:)`.
    public func value() throws(StoreError) -> Value { try defaults.value(for: key) }

    /// Sets the value; nil removes it.
    public func set(_ value: Value) throws(StoreError) { try defaults.set(value, for: key) }

    /// Reads, changes and writes the value under the suite's lock; see `SealedDefaults.update`.
    @discardableResult
    public func update(_ change: (inout Value) throws -> Void) throws(StoreError) -> Value {
        try defaults.update(key, change)
    }

    /// Removes the value from the suite.
    public func remove() throws(StoreError) { try defaults.remove(key) }

    /// The present value, then every other one; see `SealedDefaults.changes(of:)`.
    public func changes() throws(StoreError) -> DefaultsValues<Value> { try defaults.changes(of: key) }
}
