internal import PropertyLists
internal import Synchronization

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
