import SealedState
import TestSupport
import Testing

/// A home of its own with one suite, and other processes that use it.
struct DefaultsSandbox {
    let fixture: StoreFixture
    let store: SealedStore
    let defaults: SealedDefaults

    init(_ change: (inout DefaultsOptions) -> Void = { _ in }) throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        var options = DefaultsOptions()
        change(&options)
        defaults = try store.defaults(options: options)
    }

    var preferences: String { fixture.container + "/Library/Preferences" }
    /// The file of the group's own suite.
    var file: String { "\(preferences)/\(fixture.group).sealed" }

    /// Another process with the same suite; see `sealed-probe defaults`.
    func other(suite: String? = nil) throws -> OtherProgram {
        let words = ["defaults", fixture.place.path, fixture.group.identifier, suite ?? fixture.group.identifier]
        let child = try ChildProcess("sealed-probe", words)
        #expect(try child.readLine() == "ready")
        return OtherProgram(child: child)
    }

    /// The same suite in this process, opened as another program would.
    func again(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> SealedDefaults {
        try fixture.open(change).defaults()
    }
}

/// Another process with a suite.
struct OtherProgram {
    let child: ChildProcess

    /// Sends one line and returns the line that answers it.
    func ask(_ line: String) throws -> String? {
        try child.write(line + "\n")
        return try child.readLine()
    }
}
