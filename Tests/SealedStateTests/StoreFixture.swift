import FoundationEssentials
import Glibc
import SealedState
import Synchronization
import TestSupport
import Testing

/// A home of its own for one test, with one group.
struct StoreFixture {
    let place: TemporaryDirectory
    let home: GroupsHome
    let group: AppGroup

    init(_ identifier: String = "group.com.example.store") throws {
        place = try TemporaryDirectory()
        home = GroupsHome(root: place.path)
        group = try AppGroup(identifier)
    }

    /// Opens a store that syncs nothing by default, for tests of other topics.
    func open(
        creating: Bool = true, _ change: (inout StoreOptions) -> Void = { _ in }
    ) throws(StoreError) -> SealedStore {
        var options = StoreOptions()
        options.durability = .unsynced
        // The home is removed with the last reference to it; a store in use must keep it.
        options.now = { [place] in withExtendedLifetime(place) { Date() } }
        change(&options)
        return try SealedStore(group: group, in: home, creating: creating, options: options)
    }

    var container: String { place.path("Containers/\(group)") }
    var records: String { container + "/Library/Application Support/Records" }
    var quarantine: String { container + "/Quarantine" }
    var vault: String { place.path("Vaults/\(group)/vault") }
    var keyFile: String { place.path("Keys/\(group).key") }

    /// The path of the file of accepted states; there is one vault, so there is one file.
    var marks: String {
        get throws { place.path("Watermarks/\(try #require(try SystemFile.names(place.path("Watermarks")).first))") }
    }

    func file(_ name: String) -> String { "\(records)/\(name).sealed" }
    func blob(_ name: String = Note.recordName) throws -> [UInt8] { try SystemFile.read(file(name)) }

    /// Writes bytes in a record's place, as a member without the library would.
    func plant(_ bytes: [UInt8], _ name: String = Note.recordName) throws {
        if !SystemFile.exists(records) { mkdir(records, 0o700) }
        unlink(file(name))
        try SystemFile.write(file(name), bytes)
    }

    /// Returns the answer of another process about this home: `sealed-probe COMMAND HOME GROUP ARGUMENT...`.
    func probe(_ command: String, _ arguments: String...) throws -> String {
        let words = [command, place.path, group.identifier] + arguments
        return try ChildProcess.run("sealed-probe", words).outputText.trimmingNewlines
    }

    /// Returns every regular file below the home.
    func files(below relative: String = ".") throws -> [String] {
        let top = place.path(relative)
        return try SystemFile.names(top).flatMap { name -> [String] in
            let path = relative == "." ? name : "\(relative)/\(name)"
            let isDirectory = (try? SystemFile.names(place.path(path))) != nil
            return isDirectory ? try files(below: path) : [path]
        }
    }

    /// Returns files that no finished write leaves: every temporary name begins with a dot.
    func staleFiles() throws -> [String] {
        let known = [".sealedstate.lock", ".sealedstate.leases", ".lock", ".readers", ".access.lock"]
        return try files().filter { path in
            let leaf = String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...])
            let isKnown = known.contains(leaf) || leaf.hasPrefix(".marks.") || leaf.contains(".reserve.")
            return leaf.hasPrefix(".") && !isKnown
        }
    }
}

/// A clock that a test sets.
final class TestClock: Sendable {
    private let time: Mutex<Date>
    init(_ start: Date = Date(timeIntervalSince1970: 1_800_000_000)) { time = Mutex(start) }
    var now: Date { time.withLock { $0 } }
    func advance(by seconds: Double) { time.withLock { $0 += seconds } }
}

/// Returns the code of the error that `body` throws, or `nil` if it throws none.
func code(_ body: () throws -> Void) -> StoreError.Code? { refusal(body)?.code }

/// Returns the error that `body` throws, or `nil` if it throws none.
func refusal(_ body: () throws -> Void) -> StoreError? {
    do {
        try body()
        return nil
    } catch let error as StoreError {
        return error
    } catch {
        Issue.record("another error: \(error)")
        return nil
    }
}

extension String {
    var trimmingNewlines: String { String(reversed().drop(while: \.isNewline).reversed()) }
}
