public import FoundationEssentials
public import PropertyLists

/// Access by a key's text, with `UserDefaults`' conversions between text, numbers and truth values.
///
/// Every function throws `StoreError` with the reason why a suite's file is refused or missing.
extension SealedDefaults {
    /// Returns the value of a key unconverted; nil if no domain has it.
    public func object(forKey key: String) throws(StoreError) -> PropertyListValue? {
        switch try find(key) {
        case .value(let value), .argument(let value): value
        case nil: nil
        }
    }

    /// Returns text, also of a number; nil for anything else.
    public func string(forKey key: String) throws(StoreError) -> String? { try object(forKey: key)?.asText }

    /// Returns a truth value: true for a number other than 0, and for text that begins with Y, y, T, t or a digit other
    /// than
    /// 0. False for anything else.
    public func bool(forKey key: String) throws(StoreError) -> Bool { try object(forKey: key)?.asBool ?? false }

    /// Returns an integer: the whole part of a real number, the leading number of text, 0 or 1 of a truth value. 0 for
    /// anything else and for a number out of range.
    public func integer(forKey key: String) throws(StoreError) -> Int { try object(forKey: key)?.asInteger ?? 0 }

    /// Returns a number: the leading number of text, 0 or 1 of a truth value. 0 for anything else.
    public func double(forKey key: String) throws(StoreError) -> Double { try object(forKey: key)?.asDouble ?? 0 }

    /// Returns the same, rounded.
    public func float(forKey key: String) throws(StoreError) -> Float { Float(try double(forKey: key)) }

    /// Returns a date; nil for anything else.
    public func date(forKey key: String) throws(StoreError) -> Date? {
        try object(forKey: key)?.date.map { Date(timeIntervalSinceReferenceDate: $0.secondsSince2001) }
    }

    /// Returns data; nil for anything else.
    public func data(forKey key: String) throws(StoreError) -> Data? { try object(forKey: key)?.data.map { Data($0) } }

    /// Returns the address in a text: text that begins with a slash, or with `~` for this user's home, is the path of a
    /// file. Nil for anything else.
    public func url(forKey key: String) throws(StoreError) -> URL? {
        guard let value = try object(forKey: key) else { return nil }
        guard let text = value.string, text == "~" || text.hasPrefix("~/") else { return try? URL(propertyList: value) }
        return FileManager.default.homeDirectoryForCurrentUser.appending(path: text.dropFirst(2))
    }

    /// Returns an array; nil for anything else.
    public func array(forKey key: String) throws(StoreError) -> [PropertyListValue]? { try object(forKey: key)?.array }

    /// Returns an array of texts; nil for anything else, also if it contains numbers, which are not converted here.
    public func stringArray(forKey key: String) throws(StoreError) -> [String]? {
        try object(forKey: key)?.strings
    }

    /// Returns a dictionary; nil for anything else.
    public func dictionary(forKey key: String) throws(StoreError) -> [String: PropertyListValue]? {
        try object(forKey: key)?.dictionary
    }

    /// Sets a key's value in the suite; nil removes it.
    ///
    /// - Throws: `StoreError`: `.unencodable`, `.tooLarge`; as `edit`.
    public func set(_ value: some DefaultsValue, forKey key: String) throws(StoreError) {
        let list = try propertyList(of: value, key)
        try edit { $0[key] = list }
    }

    /// Removes a key from the suite; reads then use the domains behind it.
    ///
    /// - Throws: `StoreError`, as `edit`.
    public func removeObject(forKey key: String) throws(StoreError) {
        try edit { $0[key] = nil }
    }

    /// Returns a decodable value that was set with `set(encoding:forKey:)`; nil if no domain has the key.
    ///
    /// - Throws: `StoreError` `.undecodable` if it is of another type.
    public func decode<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(StoreError) -> Value? {
        guard let value = try object(forKey: key) else { return nil }
        do throws(DefaultsFault) { return try DefaultsCoding.decode(type, from: value) } catch {
            throw undecodable(key, error)
        }
    }

    /// Sets a key's value to any encodable one.
    ///
    /// - Throws: `StoreError`: `.unencodable`, `.tooLarge`; as `edit`.
    public func set(encoding value: some Encodable, forKey key: String) throws(StoreError) {
        let list = try encoded(value, key)
        try edit { $0[key] = list }
    }

    func encoded(_ value: some Encodable, _ key: String) throws(StoreError) -> PropertyListValue {
        do throws(DefaultsFault) { return try DefaultsCoding.encode(value) } catch { throw unencodable(key, error) }
    }
}
