internal import AppGroups
public import FoundationEssentials
internal import KeyVault
public import SealedState
internal import Synchronization

/// A store of its own for one test: a fresh home with container, vault and key, and a clock that the test sets. All of
/// it is removed with the last reference.
///
/// ```swift
/// let test = try TestStore()
/// try test.store.write(session)
/// test.clock.advance(by: .seconds(3600))
/// #expect(throws: StoreError.self) { try test.store.read(Session.self) }
/// ```
///
/// Records of the class *when unlocked* are `.locked` at first, as for a program that no person has unlocked the vault for;
/// `unlock()` and `lock()` do what a person does.
public final class TestStore: Sendable {
    /// The group that the store belongs to.
    public let group: AppGroup
    /// Where everything lies.
    public let home: GroupsHome
    /// The store's time of day. To move it wakes nobody: `updates(of:)` waits by the machine's clock, so a test that moves it
    /// asks with `read`.
    public let clock: AdjustableClock
    /// The store. It syncs nothing: what it writes survives the test, not the machine.
    public let store: SealedStore
    private let options: StoreOptions
    private let place: Place
    private let runtime: Runtime
    private let person: Identity

    /// Makes the home and the store.
    ///
    /// - Parameters:
    ///   - group: The group's identifier.
    ///   - clock: What gives the time of day.
    ///   - options: Limits and policies; clock and durability are the test's.
    /// - Throws: `StoreError`, or what the group's identifier or the file system is refused with.
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

    /// Removed also when the store could not be made.
    private final class Place: Sendable {
        let path: String

        init(below directory: URL = FileManager.default.temporaryDirectory) throws {
            path = directory.appending(path: "sealed-test-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Where an unlocked vault's keys wait: a directory of the test's own in memory, if there is any.
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

    /// Unlocks the vault for all stores of the group, as a person does who types the passphrase.
    ///
    /// - Throws: `VaultError` `.noUnlockCache` where the machine has no place in memory for the keys: neither the temporary
    ///   directory, `XDG_RUNTIME_DIR` nor `/dev/shm` lies there.
    public func unlock() throws(VaultError) {
        do {
            try UnlockCaches.$current.withValue(runtime.caches) {
                _ = try Vault.open(AccessGroup(group), in: home, with: .identity(person)).unlock()
            }
        } catch { throw Self.vaultError(error) }
    }

    /// Locks it again: records of the class *when unlocked* are `.locked`.
    ///
    /// - Throws: `VaultError`.
    public func lock() throws(VaultError) {
        do {
            try UnlockCaches.$current.withValue(runtime.caches) { try Vault.lock(AccessGroup(group), in: home) }
        } catch { throw Self.vaultError(error) }
    }

    /// A task-local value's scope forgets the type of what is thrown in it.
    private static func vaultError(_ error: any Error) -> VaultError {
        guard let error = error as? VaultError else { preconditionFailure("Thrown by nothing in the scope: \(error)") }
        return error
    }

    /// The same group opened once more, as another program does it.
    ///
    /// - Throws: `StoreError`.
    public func reopened() throws(StoreError) -> SealedStore {
        do {
            return try UnlockCaches.$current.withValue(runtime.caches) {
                try SealedStore(group: group, in: home, creating: false, options: options)
            }
        } catch {
            guard let error = error as? StoreError else {
                preconditionFailure("Thrown by nothing in the scope: \(error)")
            }
            throw error
        }
    }
}

/// A clock that stands still until a test moves it.
public final class AdjustableClock: Sendable {
    private let time: Mutex<Date>

    /// A clock that shows a time; the present unless stated.
    public init(_ start: Date = Date()) { time = Mutex(start) }

    /// What it shows.
    public var now: Date {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    /// Moves it forward, or back for a negative duration.
    public func advance(by duration: Duration) {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        time.withLock { $0 += seconds }
    }
}
