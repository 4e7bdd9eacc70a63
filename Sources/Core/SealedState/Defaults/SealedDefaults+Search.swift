public import PropertyLists
internal import Synchronization

/// Where a value is looked for: the program's arguments if the options name them, the suite, the suites that were added, what
/// was registered.
extension SealedDefaults {
    /// A value, and whether it is text from the command line.
    enum Found {
        case value(PropertyListValue)
        case argument(PropertyListValue)
    }

    /// Sets values that hold where nothing was set: in this process only, and behind every suite.
    ///
    /// - Throws: `StoreError` `.unencodable` for what no property list can hold.
    public func register(defaults: [String: any DefaultsValue]) throws(StoreError) {
        var values: [String: PropertyListValue] = [:]
        for (key, value) in defaults { values[key] = try propertyList(of: value, key) }
        search.register(values)
        changed.raise()
    }

    /// Looks for values in another suite of the group as well, behind this one and those that were added before.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    public func addSuite(named name: String) throws(StoreError) {
        let suite = try DefaultsSuite(name)
        guard suite != file.suite else { return }
        search.add(SuiteFile(suite, in: file.store))
        changed.raise()
    }

    /// Ends that.
    ///
    /// - Throws: `StoreError` `.invalidName`.
    public func removeSuite(named name: String) throws(StoreError) {
        search.remove(try DefaultsSuite(name))
        changed.raise()
    }

    /// Everything that a read would answer, over all domains.
    ///
    /// - Throws: `StoreError`: why a suite's file is refused, or that it is gone.
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

    /// The value that the suite's own covers.
    func behind(_ key: String) throws(StoreError) -> PropertyListValue? {
        for suite in search.suites {
            if let value = try suite.contents().values[key] { return value }
        }
        return search.registered(key)
    }
}

/// Where values are looked for besides the suite itself: before it the program's arguments, behind it other suites, and last
/// what the program registered.
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

    /// What the program registered.
    var registered: [String: PropertyListValue] { state.withLock { $0.registered } }

    func registered(_ key: String) -> PropertyListValue? { state.withLock { $0.registered[key] } }

    func register(_ values: [String: PropertyListValue]) {
        state.withLock { $0.registered.merge(values) { _, new in new } }
    }

    /// Adds a suite at the end, unless it is there.
    func add(_ file: SuiteFile) {
        state.withLock { state in
            if !state.suites.contains(where: { $0.suite == file.suite }) { state.suites.append(file) }
        }
    }

    func remove(_ suite: DefaultsSuite) {
        state.withLock { $0.suites.removeAll { $0.suite == suite } }
    }
}

/// Settings from a program's arguments: `-key value`, as Foundation's argument domain has them.
enum ArgumentDomain {
    /// Each argument that begins with one hyphen, with the argument behind it. The first argument, the program's own name,
    /// begins with none. A value that is written as a property list is one, any other is text.
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
