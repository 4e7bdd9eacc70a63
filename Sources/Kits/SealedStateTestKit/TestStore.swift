internal import AppGroups
public import FoundationEssentials
internal import KeyVault
public import SealedState
internal import Synchronization

/// A separate store for one test: a new home with container, vault and key, and a clock that the test sets. The home is
/// removed with the last reference.
///
/// ```swift
/// let test = try TestStore()
/// try test.store.write(session)
/// test.clock.advance(by: .seconds(3600))
/// #expect(throws: StoreError.self) { try test.store.read(Session.self) }
/// ```
///
/// Records of the class *when unlocked* are `.locked` at first, as for a program before a person unlocks the vault.
/// `unlock()` and `lock()` act like that person.
public final class TestStore: Sendable {
    /// The group that the store belongs to.
    public let group: AppGroup
    /// The home of the group.
    public let home: GroupsHome
    /// The store's time of day. A change of it does not wake waiters: `updates(of:)` uses the machine's clock, so a
    /// test that moves the clock calls `read`.
    public let clock: AdjustableClock
    /// The store. It does not sync: its files survive the test, but not a crash of the machine.
    public let store: SealedStore
    private let options: StoreOptions
    private let place: Place
    private let runtime: Runtime
    private let person: Identity

    /// Creates the home and the store.
    ///
    /// - Parameters:
    ///   - group: The group's identifier.
    ///   - clock: The source of the time of day.
    ///   - options: Limits and policies; clock and durability are the test's.
    /// - Throws: `StoreError`, or an error of the group's identifier or the file system.
    public init(
        group: String = "group.com.example.tests", clock: AdjustableClock = AdjustableClock(),
        options: StoreOptions = StoreOptions()
    ) throws {
        place = try Place()
        var options = options
        options.now = { clock.now }
        options.durability = .unsynced
        self.clock = clock
        self.options = options
        self.group = try AppGroup(group)
        home = GroupsHome(root: place.path)
        runtime = Runtime(besides: place)
        person = try Identity.random()
        _ = try Vault.create(
            AccessGroup(self.group), in: home, slots: [.recipient(person.recipient), .defaultKeyFile],
            openingWith: .identity(person))
        store = try UnlockCaches.$current.withValue(runtime.caches) { [group = self.group, home] in
            try SealedStore(group: group, in: home, options: options)
        }
    }

    /// A directory that is removed even if the store could not be created.
    private final class Place: Sendable {
        let path: String

        init(below directory: URL = FileManager.default.temporaryDirectory) throws {
            path = directory.appending(path: "sealed-test-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    /// The place of an unlocked vault's keys: a directory of the test in memory, if available.
    private struct Runtime: Sendable {
        let place: Place
        var caches: UnlockCaches { .runtimeFile(below: place.path) }

        init(besides home: Place) {
            let places = [ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], "/dev/shm"].lazy
                .compactMap { $0.flatMap { try? Place(below: URL(filePath: $0)) } }
            place =
                ([home] + places).first { UnlockCaches.runtimeFile(below: $0.path).isUsable } ?? home
        }
    }

    /// Unlocks the vault for all stores of the group, as a person does with the passphrase.
    ///
    /// - Throws: `VaultError` `.noUnlockCache` if the machine has no in-memory place for the keys: none of the
    ///   temporary directory, `XDG_RUNTIME_DIR` and `/dev/shm` is in memory.
    public func unlock() throws(VaultError) {
        do {
            try UnlockCaches.$current.withValue(runtime.caches) {
                _ = try Vault.open(AccessGroup(group), in: home, with: .identity(person)).unlock()
            }
        } catch { throw Self.vaultError(error) }
    }

    /// Locks the vault again, so that records of the class *when unlocked* are `.locked`.
    ///
    /// - Throws: `VaultError`.
    public func lock() throws(VaultError) {
        do {
            try UnlockCaches.$current.withValue(runtime.caches) { try Vault.lock(AccessGroup(group), in: home) }
        } catch { throw Self.vaultError(error) }
    }

    /// Restores the error's type, which a task-local value's scope erases.
    private static func vaultError(_ error: any Error) -> VaultError {
        guard let error = error as? VaultError else {
            preconditionFailure("No call in the scope throws this error: \(error)")
        }
        return error
    }

    /// Opens the same group once more, as another program does.
    ///
    /// - Throws: `StoreError`.
    public func reopened() throws(StoreError) -> SealedStore {
        do {
            return try UnlockCaches.$current.withValue(runtime.caches) {
                try SealedStore(group: group, in: home, creating: false, options: options)
            }
        } catch {
            guard let error = error as? StoreError else {
                preconditionFailure("No call in the scope throws this error: \(error)")
            }
            throw error
        }
    }
}

/// A clock that changes only when a test moves it.
public final class AdjustableClock: Sendable {
    private let time: Mutex<Date>

    /// Creates a clock with a time; by default the current one.
    public init(_ start: Date = Date()) { time = Mutex(start) }

    /// The time of the clock.
    public var now: Date {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    /// Moves the clock forward, or back for a negative duration.
    public func advance(by duration: Duration) {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        time.withLock { $0 += seconds }
    }
}
