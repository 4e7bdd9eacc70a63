internal import PropertyLists

/// Watching, across processes.
extension SealedDefaults {
    /// Watches a key: its present value, then every other one.
    ///
    /// ```swift
    /// for await theme in try defaults.changes(of: .theme) { show(theme) }
    /// ```
    /// - Throws: `StoreError` `.watchLimit` when the system gives no more watches, with the setting that raises the
    ///   limit.
    public func changes<Value>(of key: DefaultsKey<Value>) throws(StoreError) -> DefaultsValues<Value> {
        try DefaultsValues(of: key, in: self)
    }

    /// Watches all keys: the changed ones since this call, by any program.
    ///
    /// - Throws: `StoreError` `.watchLimit`, as `changes(of:)`.
    public func changes() throws(StoreError) -> DefaultsChanges {
        let watch = try DefaultsWatch(self)
        // A refused suite is reported first.
        return DefaultsChanges(watch, since: (try? valuesOfSuites()) ?? [:])
    }

    /// Returns the results of all reads, except for the arguments.
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

/// The values of a key: its present value first, then every other one, by any program and from any domain.
///
/// While the suite is refused, or the value is of another type, no value is reported: `onFailure` of the options is
/// called. For a slow consumer the latest value counts. Iteration ends only when its task is cancelled.
public struct DefaultsValues<Value: DefaultsValue & Sendable>: AsyncSequence, Sendable {
    /// A value.
    public typealias Element = Value
    /// A value that cannot be read is skipped until it can.
    public typealias Failure = Never

    private let defaults: SealedDefaults
    private let watch: DefaultsWatch
    private let key: DefaultsKey<Value>

    init(of key: DefaultsKey<Value>, in defaults: SealedDefaults) throws(StoreError) {
        self.defaults = defaults
        self.key = key
        watch = try DefaultsWatch(defaults)
    }

    /// Creates an iterator with its own last reported value.
    public func makeAsyncIterator() -> Iterator { Iterator(defaults, key, DefaultsObserver(watch)) }

    /// An iterator from one value to the next.
    public struct Iterator: AsyncIteratorProtocol {
        private let defaults: SealedDefaults
        private let key: DefaultsKey<Value>
        private var observer: DefaultsObserver
        /// The last reported value, or its absence; nil before the first one.
        private var delivered: PropertyListValue??
        private var failure: StoreError.Code?

        init(_ defaults: SealedDefaults, _ key: DefaultsKey<Value>, _ observer: DefaultsObserver) {
            self.defaults = defaults
            self.key = key
            self.observer = observer
        }

        /// Returns the next value; nil once the task was cancelled.
        public mutating func next() async -> Value? { await next(isolation: nil) }

        /// Returns the next value; nil once the task was cancelled. Files are never read on the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            while let finding = await observer.next() {
                do throws(StoreError) {
                    if let value = try news(finding) { return value }
                    failure = nil
                } catch {
                    // Once for each kind: a waiting iterator repeats its look.
                    if failure != error.code { defaults.options.onFailure?(error) }
                    failure = error.code
                }
            }
            return nil
        }

        private mutating func news(_ finding: DefaultsWatch.Finding) throws(StoreError) -> Value? {
            let values = try finding.get()
            let argument = defaults.search.arguments[key.name]
            let found = argument ?? values[key.name]
            if let delivered, delivered == found { return nil }
            let value = try defaults.value(key, from: found, isArgument: argument != nil)
            delivered = .some(found)
            return value
        }
    }
}
