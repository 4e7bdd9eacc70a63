/// The name of a default, with the type of its value and what holds where nothing was set.
///
/// ```swift
/// extension DefaultsKey where Value == Theme {
///     static let theme = DefaultsKey("theme", default: .light)
/// }
/// ```
public struct DefaultsKey<Value: DefaultsValue & Sendable>: Sendable {
    /// The key in the suite.
    public let name: String
    /// What a read answers where no domain has the key.
    public let defaultValue: Value

    /// - Parameters:
    ///   - name: The key in the suite.
    ///   - defaultValue: What a read answers where no domain has the key.
    public init(_ name: String, default defaultValue: Value) {
        self.name = name
        self.defaultValue = defaultValue
    }

    /// The key of a value that may be missing: then it is nil.
    public init<Wrapped>(_ name: String) where Value == Wrapped? {
        self.init(name, default: nil)
    }
}
