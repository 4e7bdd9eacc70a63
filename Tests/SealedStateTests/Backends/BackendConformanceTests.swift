import AppGroups
import Glibc
import SealedBackends
import SealedStateSQLite
import SealedStateTestKit
import Sealing
import SharedFiles
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// The promises of `SealedBackend` on each backend.
@Suite("Backends keep their promises", .timeLimit(.minutes(150))) struct BackendConformanceTests {
    private static let seeds: [UInt64] = [1, 2, 3]

    private static let duration = environmentVariable("SEALED_SOAK").flatMap { Int($0) }.map { Duration.seconds($0) }
    /// The duration of each soak: two seconds, or that of the environment.
    private static let soak = duration ?? .seconds(2)

    @Test(arguments: BackendCheck.allCases, seeds) func memory(check: BackendCheck, seed: UInt64) throws {
        expect(try check.run(on: Self.memory(seed, .none), seed: seed), of: check, isTested: check != .removal)
    }

    /// Faults that a backend may have change none of its promises.
    @Test(arguments: BackendCheck.allCases, seeds) func memoryWithFaults(check: BackendCheck, seed: UInt64) throws {
        var faults = MemoryBackend.Faults.all
        // With other writers a commit whose answer was lost cannot be found any more.
        if check == .races || check == .soak { faults.indeterminate = 0 }
        expect(try check.run(on: Self.memory(seed, faults), seed: seed), of: check, isTested: check != .removal)
    }

    private static func memory(_ seed: UInt64, _ faults: MemoryBackend.Faults) -> BackendSubject {
        BackendSubject(
            losePower: { backend in
                (backend as? MemoryBackend)?.powerLoss()
                return backend
            }, soakDuration: soak, make: { MemoryBackend(seed: seed, faults: faults) })
    }

    /// A check that is not tested is no check that was passed.
    private func expect(_ outcome: BackendCheck.Outcome, of check: BackendCheck, isTested: Bool) {
        if isTested { #expect(outcome == .passed) } else { #expect(outcome != .passed) }
    }

    @Test(arguments: BackendCheck.allCases) func files(check: BackendCheck) throws {
        let fixtures = Mutex<[StoreFixture]>([])
        let open: @Sendable (StoreFixture) throws -> FileBackend = { fixture in
            let container = try GroupContainer.open(fixture.group, in: fixture.home)
            return FileBackend(container, at: ContainerAnchor(of: container.root))
        }
        let first: @Sendable () throws -> StoreFixture = { try #require(fixtures.withLock { $0.first }) }
        let subject = BackendSubject(
            reopen: { _ in try open(try first()) },
            removeData: { _ in
                let container = try first().container
                #expect(rename(container, container + ".old") == 0)
            },
            exclude: { key, body in
                let fixture = try first()
                let container = try GroupContainer.open(fixture.group, in: fixture.home, creating: false)
                let place = RecordPlace(try RecordName(stored: key.name), group: fixture.group.identifier)
                let lock = try ContainerLocks(of: container).lock(place.lock, timeout: .seconds(60))
                try body()
                lock.unlock()
            }, soakDuration: Self.soak,
            make: {
                let fixture = try StoreFixture()
                fixtures.withLock { $0.append(fixture) }
                return try open(fixture)
            })
        expect(try check.run(on: subject), of: check, isTested: check != .batches && check != .powerLoss)
    }

    #if SQLite
    @Test(arguments: BackendCheck.allCases, seeds) func sqlite(check: BackendCheck, seed: UInt64) throws {
        let places = Mutex<[TemporaryDirectory]>([])
        let open: @Sendable (TemporaryDirectory) throws -> any SealedBackend = { place in
            try SQLiteProvider().open(BackendPlace(group: "group.x", directory: place.path, isShared: false))
        }
        let first: @Sendable () throws -> TemporaryDirectory = { try #require(places.withLock { $0.first }) }
        let subject = BackendSubject(
            reopen: { _ in try open(try first()) },
            removeData: { _ in
                let database = try first().path("Library/Application Support/Records.sqlite")
                #expect(rename(database, database + ".old") == 0)
            }, soakDuration: Self.soak,
            make: {
                let place = try TemporaryDirectory()
                places.withLock { $0.append(place) }
                return try open(place)
            })
        expect(try check.run(on: subject, seed: seed), of: check, isTested: check != .powerLoss)
    }
    #endif
}
