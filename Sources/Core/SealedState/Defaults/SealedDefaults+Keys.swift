internal import PropertyLists
internal import SharedFiles

/// Typed access.
extension SealedDefaults {
    /// Returns the value of a key: from the first domain of the search list that has it, else the key's own default.
    ///
    /// - Throws: `StoreError`: `.undecodable` if it is of another type; the reason why a suite's file is refused or
    ///   missing.
    public func value<Value>(for key: DefaultsKey<Value>) throws(StoreError) -> Value {
        if !search.arguments.isEmpty, let value = search.arguments[key.name] {
            return try read(.argument(value), as: Value.self, key.name)
        }
        let contents = try file.contents()
        if let value = contents.values[key.name] {
            return try contents.decoded(key.name) { () throws(StoreError) in
                try read(.value(value), as: Value.self, key.name)
            }
        }
        guard let found = try behind(key.name) else { return key.defaultValue }
        return try read(.value(found), as: Value.self, key.name)
    }

    /// Sets a key's value in the suite; nil removes it.
    ///
    /// - Throws: `StoreError`: `.unencodable`, `.tooLarge`; as `edit`.
    public func set<Value>(_ value: Value, for key: DefaultsKey<Value>) throws(StoreError) {
        try set(value, forKey: key.name)
    }

    /// Reads, changes and writes one value under the suite's lock: no other program's change of it is lost.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - change: Gets the suite's value, or else the next one in the search list; never the program's arguments. It
    ///     must not use the same suite, and may throw: then nothing is written.
    /// - Returns: The value that was written; for a result of the closure's own use `edit`.
    /// - Throws: `StoreError`, as `value(for:)` and `edit`.
    @discardableResult
    public func update<Value>(
        _ key: DefaultsKey<Value>, _ change: (inout Value) throws -> Void
    ) throws(StoreError) -> Value {
        try update(key, EditOptions(), change)
    }

    /// Removes a key from the suite; reads then use the domains behind it.
    ///
    /// - Throws: `StoreError`, as `edit`.
    public func remove<Value>(_ key: DefaultsKey<Value>) throws(StoreError) { try removeObject(forKey: key.name) }

    func update<Value>(
        _ key: DefaultsKey<Value>, _ options: EditOptions, _ change: (inout Value) throws -> Void
    ) throws(StoreError) -> Value {
        // Outside of the lock: other suites are other files.
        let behind = try behind(key.name)
        return try edit(options) { values in
            let found = values[key.name] ?? behind
            var value = try found.map { try read(.value($0), as: Value.self, key.name) } ?? key.defaultValue
            try change(&value)
            values[key.name] = try propertyList(of: value, key.name)
            return value
        }
    }

    func read<Value: DefaultsValue>(
        _ found: Found, as type: Value.Type, _ key: String
    ) throws(StoreError) -> Value {
        switch found {
        case .value(let value): return try read(value, as: type, key)
        // Arguments are text; the requested type determines other interpretations.
        case .argument(let value):
            for meaning in value.meaningsOfArgument {
                if let value = try? Value(propertyList: meaning) { return value }
            }
            return try read(value, as: type, key)
        }
    }

    private func read<Value: DefaultsValue>(
        _ value: PropertyListValue, as type: Value.Type, _ key: String
    ) throws(StoreError) -> Value {
        do throws(DefaultsFault) { return try Value(propertyList: value) } catch { throw undecodable(key, error) }
    }

    func propertyList(of value: some DefaultsValue, _ key: String) throws(StoreError) -> PropertyListValue? {
        do throws(DefaultsFault) { return try value.propertyList() } catch { throw unencodable(key, error) }
    }

    func undecodable(_ key: String, _ fault: DefaultsFault) -> StoreError {
        StoreError(
            .undecodable, "read", "\(file.place.name.text), key \(key.printable),", fault.reason,
            advice: "Examine the program that wrote it, or remove the key.")
    }

    func unencodable(_ key: String, _ fault: DefaultsFault) -> StoreError {
        StoreError(
            .unencodable, "write", "\(file.place.name.text), key \(key.printable),", fault.reason,
            advice: "Write a value that a property list can represent; the old value remains.")
    }
}

extension PropertyListValue {
    /// The interpretations of an argument: text first, then a number, then a truth value.
    fileprivate var meaningsOfArgument: [PropertyListValue] {
        guard let text = string else { return [self] }
        return [self]
            + [Int64(text).map { .integer($0) }, Double(text).map { .real($0) }, truth(text).map { .bool($0) }]
            .compactMap { $0 }
    }

    private func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true": true
        case "no", "false": false
        default: nil
        }
    }
}

/// The name of a default, with the type of its value and the value if none was set.
///
/// ```swift
/// extension DefaultsKey where Value == Theme {
///     static let theme = DefaultsKey("theme", default: .light)
/// }
/// ```
public struct DefaultsKey<Value: DefaultsValue & Sendable>: Sendable {
    /// The key in the suite.
    public let name: String
    /// The result of a read if no domain has the key.
    public let defaultValue: Value

    /// Creates the key of a value that is never missing.
    ///
    /// - Parameters:
    ///   - name: The key in the suite.
    ///   - defaultValue: The result of a read if no domain has the key.
    public init(_ name: String, default defaultValue: Value) {
        self.name = name
        self.defaultValue = defaultValue
    }

    /// Creates the key of a value that may be missing: then it is nil.
    public init<Wrapped>(_ name: String) where Value == Wrapped? {
        self.init(name, default: nil)
    }
}
