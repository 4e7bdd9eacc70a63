import AppGroups
import SealedBackends
import SealedStateSQLite
import SharedFiles
import TestSupport
import Testing

@testable import SealedState

/// A group's container whose records child processes write through a backend of the program `sealed-probe`.
struct BackendSandbox {
    /// The backends that keep data on a disk.
    enum Kind: String, CaseIterable, Sendable {
        case files
        case sqlite

        /// Batches are of one write for files.
        var keys: Int { self == .files ? 1 : 3 }
    }

    static var kinds: [Kind] {
        #if SQLite
        Kind.allCases
        #else
        [.files]
        #endif
    }

    let kind: Kind
    let fixture: StoreFixture

    init(_ kind: Kind) throws {
        self.kind = kind
        fixture = try StoreFixture("group.com.example.backend")
        // Creates container and vault.
        _ = try fixture.open()
    }

    private func words(_ command: String, _ arguments: [String]) -> [String] {
        [command, kind.rawValue, fixture.place.path, fixture.group.identifier] + arguments
    }

    func child(_ command: String, _ arguments: String...) throws -> ChildProcess {
        try ChildProcess("sealed-probe", words(command, arguments))
    }

    func traced(_ command: String, _ arguments: String..., showingContents: Bool = false) -> TracedProcess {
        TracedProcess(
            words(command, arguments), log: fixture.place.path + ".trace", showingPaths: true,
            showingContents: showingContents)
    }

    func open() throws -> any SealedBackend { try Self.open(kind, in: fixture.home, fixture.group) }

    static func open(_ kind: Kind, in home: GroupsHome, _ group: AppGroup) throws -> any SealedBackend {
        let container = try GroupContainer.open(group, in: home, creating: false)
        switch kind {
        case .files: return FileBackend(container, at: ContainerAnchor(of: container.root))
        case .sqlite:
            #if SQLite
            return try SQLiteProvider().open(
                BackendPlace(group: group.identifier, directory: container.path, isShared: false))
            #else
            throw BackendError(.unsupported, "open", "sqlite", "The tests are built without the trait SQLite.")
            #endif
        }
    }

    /// A batch of which a part is missing.
    struct PartOfABatch: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns the number of the batch that a backend has, which is whole; 0 without one.
    static func batch(in backend: any SealedBackend, keys: Int) throws -> Int {
        let numbers = try (0..<keys).map { key in
            guard let blob = try backend.read(BackendKey("batch/\(key)"), limit: .max)?.bytes else { return 0 }
            let number = blob.prefix(8).reduce(0) { $0 << 8 | Int($1) }
            let rest = blob.dropFirst(8)
            guard number > 0, rest.count == 168 + number * 397 % 30_000,
                rest.allSatisfy({ $0 == UInt8(truncatingIfNeeded: number) })
            else { throw PartOfABatch(description: "The blob \(number) of key \(key) is not whole.") }
            return number
        }
        guard Set(numbers).count == 1 else { throw PartOfABatch(description: "The batch is not whole: \(numbers).") }
        return numbers[0]
    }

    /// Returns the last number that a child reported as made, with one of these durabilities.
    static func last(_ lines: some Sequence<some StringProtocol>, _ durabilities: [String]) -> Int {
        lines.compactMap { line -> Int? in
            let words = line.split(separator: " ")
            guard words.count == 3, words[0] == "made", durabilities.contains(String(words[2])) else { return nil }
            return Int(words[1])
        }.max() ?? 0
    }
}
