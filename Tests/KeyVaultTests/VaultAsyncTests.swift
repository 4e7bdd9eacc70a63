import CryptoPrimitives
import FoundationEssentials
import SharedFiles
import Synchronization
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the vault's calls for tasks.
@Suite(.timeLimit(.minutes(2))) struct VaultAsyncTests {
    private let fixture: VaultFixture

    init() throws { fixture = try VaultFixture() }

    private func make(lockTimeout: Duration = .seconds(10)) throws -> Vault {
        try fixture.create(options: VaultOptions(lockTimeout: lockTimeout))
    }

    /// Takes the vault's lock as another program does.
    private func lock() throws -> HeldLock {
        let directory = try #require(try fixture.place.openDirectory())
        return try fixture.place.lockFile(in: directory).acquire(.whole, .exclusive, timeout: .seconds(10))
    }

    /// Returns the code of the error that `body` throws, or `nil`.
    private func awaitedCode(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(VaultError) -> Void
    ) async -> VaultError.Code? {
        do throws(VaultError) {
            try await body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func aTaskUsesItemsFromAddingToDeleting() async throws {
        let created = try await Vault.openOrCreate(fixture.accessGroup, in: fixture.home)
        try await created.addItem(service: "s", account: "a", label: "first", value: "sécret")
        let vault = try await Vault.open(fixture.accessGroup, in: fixture.home)
        #expect(try await vault.item(service: "s", account: "a").label == "first")
        #expect(try await vault.items().map(\.account) == ["a"])
        #expect(try await vault.withValue(service: "s", account: "a") { $0.count } == 7)
        try await vault.updateItem(service: "s", account: "a", value: [UInt8](1...4))
        try await vault.updateItem(service: "s", account: "a", label: "second")
        #expect(try await vault.copyValue(service: "s", account: "a", as: [UInt8].self) == [1, 2, 3, 4])
        let copy = try await vault.copyValue(service: "s", account: "a")
        #expect(copy.withUnsafeBytes { Array($0) } == [1, 2, 3, 4])
        #expect(try await vault.item(service: "s", account: "a").label == "second")
        #expect(try await vault.deleteItem(service: "s", account: "a").isLogged)
        #expect(
            await awaitedCode { () async throws(VaultError) in _ = try await vault.item(service: "s", account: "a") }
                == .itemNotFound)
    }

    @Test func secretBytesAreAddedFromATask() async throws {
        let vault = try make()
        let secret = SecretBytes(count: 3) { $0.copyBytes(from: [7, 8, 9]) }
        try await vault.addItem(service: "s", account: "a", value: secret)
        #expect(try await vault.withValue(service: "s", account: "a") { Array($0) } == [7, 8, 9])
    }

    @Test(arguments: CacheKind.usable)
    func aPersonUnlocksAndLocksFromATask(kind: CacheKind) async throws {
        let fixture = try UnlockFixture(kind)
        let vault = try fixture.person()
        try await UnlockCaches.$current.withValue(fixture.sandbox.caches) {
            // The calls use the caches of the task on their threads.
            #expect(try await vault.unlock(for: .seconds(60)))
            let opened = try await Vault.open(fixture.vault.accessGroup, in: fixture.vault.home)
            #expect(try await opened.isUnlocked())
            #expect(try await opened.lockedNameCount() == 0)
            let status = try await Vault.status(fixture.vault.accessGroup, in: fixture.vault.home)
            #expect(status.whenUnlocked != .locked)
            let report = try await Vault.lock(fixture.vault.accessGroup, in: fixture.vault.home)
            #expect(report.locked.contains(.whenUnlocked))
            #expect(try await !opened.isUnlocked())
        }
    }

    /// task                          other program
    ///                               takes the lock
    /// addItem waits
    /// is cancelled: `.cancelled`
    ///                               unlocks
    /// no item was added
    @Test func cancellingATaskEndsItsWaitForTheLock() async throws {
        let vault = try make(lockTimeout: .seconds(60))
        let lock = try lock()
        let task = Task { try await vault.addItem(service: "s", account: "a", value: "x") }
        try await Task.sleep(for: .milliseconds(100))
        task.cancel()
        await #expect { try await task.value } throws: { VaultError.Code.cancelled ~= $0 }
        lock.unlock()
        #expect(try await vault.items().isEmpty)
    }

    /// Blocking calls of the vault in the closure wait as if no task had called.
    @Test func aClosureThatBorrowsAValueIsNotPartOfTheCall() async throws {
        let vault = try make()
        try await vault.addItem(service: "s", account: "a", value: "x")
        #expect(try await vault.withValue(service: "s", account: "a") { _ in Vault.awaitedCall == nil })
        let isApart = try await vault.withValue(service: "s", account: "a") { value in
            if value.isEmpty { throw CancellationError() }
            return Vault.awaitedCall == nil
        }
        #expect(isApart)
    }

    @Test func theLocksTimeLimitHoldsForATask() async throws {
        let vault = try make(lockTimeout: .milliseconds(50))
        let lock = try lock()
        #expect(
            await awaitedCode { () async throws(VaultError) in
                try await vault.addItem(service: "s", account: "a", value: "x")
            } == .lockTimeout)
        lock.unlock()
    }

    /// tasks, more than any pool has threads for tasks    a later task
    /// all wait for the lock
    ///                                                    runs, and unlocks
    /// all add their item
    @Test func tasksThatWaitForTheVaultLeaveTheThreadsOfTasksFree() async throws {
        let vault = try make(lockTimeout: .seconds(60))
        let held = OtherProgram(try lock())
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount + 48
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask { try await vault.addItem(service: "s", account: "\(number)", value: "x") }
            }
            group.addTask {
                try await Task.sleep(for: .milliseconds(200))
                held.unlock()
            }
            try await group.waitForAll()
        }
        #expect(try await vault.items().count == count)
    }
}

/// The holder of the vault's lock, for another task to end.
private final class OtherProgram: Sendable {
    private let lock: Mutex<HeldLock?>

    init(_ lock: consuming HeldLock) { self.lock = Mutex(lock) }

    func unlock() { lock.withLock { $0.take() }?.unlock() }
}
