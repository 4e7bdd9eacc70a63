public import PropertyLists
internal import Synchronization

/// The domains of a search: the program's arguments if the options name them, the suite, the added suites, the
/// registered values.
extension SealedDefaults {
    /// A value, marked if it is text from the command line.
    enum Found {
        case value(PropertyListValue)
        case argument(PropertyListValue)
    }

    /// Registers values for keys without a value: in this process only, and behind every suite.
    ///
    /// - Throws: `StoreError` `.unencodable` for a value that no property list can hold.
    public func register(defaults: [String: any DefaultsValue]) throws(StoreError) {
        var values: [String: PropertyListValue] = [:]
        for (key, value) in defaults { values[key] = try propertyList(of: value, key) }
        search.register(values)
        changed.raise()
    }

    /// Adds another suite of the group to the search list, behind this one and those that were added before.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    public func addSuite(named name: String) throws(StoreError) {
        let suite = try DefaultsSuite(name)
        guard suite != file.suite else { return }
        search.add(SuiteFile(suite, in: file.store))
        changed.raise()
    }

    /// Removes an added suite from the search list.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    public func removeSuite(named name: String) throws(StoreError) {
        search.remove(try DefaultsSuite(name))
        changed.raise()
    }

    /// Returns the results of all reads, over all domains.
    ///
    /// - Throws: `StoreError` with the reason why a suite's file is refused or missing.
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

    /// Returns the value behind the suite's own.
    func behind(_ key: String) throws(StoreError) -> PropertyListValue? {
        for suite in search.suites {
            if let value = try suite.contents().values[key] { return value }
        }
        return search.registered(key)
    }
}

/// The domains besides the suite itself: the program's arguments before it, other suites behind it, and last the values
/// that the program registered.
final class SearchList: Sendable {
    private struct State {
        var suites: [SuiteFile] = []
        var registered: [String: PropertyListValue] = [:]
    }

    let arguments: [String: PropertyListValue]
    private let state = Mutex(State())

    init(arguments: [String]) {
        self.arguments = ArgumentDomain.values(arguments)
    }

    /// The suites that were added, in their order.
    var suites: [SuiteFile] { state.withLock { $0.suites } }

    /// The values that the program registered.
    var registered: [String: PropertyListValue] { state.withLock { $0.registered } }

    func registered(_ key: String) -> PropertyListValue? { state.withLock { $0.registered[key] } }

    func register(_ values: [String: PropertyListValue]) {
        state.withLock { $0.registered.merge(values) { _, new in new } }
    }

    /// Adds a suite at the end, unless it is present.
    func add(_ file: SuiteFile) {
        state.withLock { state in
            if !state.suites.contains(where: { $0.suite == file.suite }) { state.suites.append(file) }
        }
    }

    func remove(_ suite: DefaultsSuite) {
        state.withLock { $0.suites.removeAll { $0.suite == suite } }
    }
}

/// Settings from a program's arguments: `-key value`, as in Foundation's argument domain.
enum ArgumentDomain {
    /// Returns each argument that begins with one hyphen, with the argument after it. The first argument, the program's
    /// own name, begins with none. A value in property list syntax is parsed, any other is text.
    static func values(_ arguments: [String]) -> [String: PropertyListValue] {
        var values: [String: PropertyListValue] = [:]
        var index = 0
        while index + 1 < arguments.count {
            guard let key = key(arguments[index]) else {
                index += 1
                continue
            }
            values[key] = value(arguments[index + 1])
            index += 2
        }
        return values
    }

    private static func key(_ argument: String) -> String? {
        guard argument.hasPrefix("-"), !argument.hasPrefix("--"), argument.utf8.count > 1 else { return nil }
        return String(argument.dropFirst())
    }

    private static func value(_ text: String) -> PropertyListValue {
        guard let first = text.utf8.first, Self.openings.contains(first) else { return .string(text) }
        return (try? PropertyList.parse(Array(text.utf8)).value) ?? .string(text)
    }

    private static let openings = Set("({<\"".utf8)
}
