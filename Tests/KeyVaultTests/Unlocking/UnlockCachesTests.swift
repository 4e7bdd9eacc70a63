import CryptoPrimitives
import Synchronization
import SystemPackage
import Testing

@testable import KeyVault

/// A cache that can be set to refuse everything.
private final class FakeCache: UnlockCache {
    private struct State {
        var tickets: [String: [UInt8]] = [:]
        var failure: VaultError.Code?
    }

    let place: UnlockPlace
    private let state = Mutex(State())

    init(_ place: UnlockPlace, failing code: VaultError.Code? = nil) {
        self.place = place
        state.withLock { $0.failure = code }
    }

    var count: Int { state.withLock { $0.tickets.count } }
    var isUsable: Bool { state.withLock { $0.failure == nil } }

    func fail(with code: VaultError.Code?) { state.withLock { $0.failure = code } }

    private func check() throws(VaultError) {
        if let code = state.withLock({ $0.failure }) { throw VaultError(code, "test", "a cache", "As requested.") }
    }

    func store(_ ticket: UnsafeRawBufferPointer, as name: UnlockName, for lifetime: Duration?) throws(VaultError) {
        try check()
        let bytes = Array(ticket)
        state.withLock { $0.tickets[name.text] = bytes }
    }

    func read(_ name: UnlockName, into buffer: UnsafeMutableRawBufferPointer) throws(VaultError) -> Int? {
        try check()
        guard let bytes = state.withLock({ $0.tickets[name.text] }) else { return nil }
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    func remove(_ name: UnlockName) throws(VaultError) {
        try check()
        state.withLock { $0.tickets[name.text] = nil }
    }

    func wipeExpired(_ name: UnlockName) {}
}

@Suite struct UnlockCachesTests {
    private let kernel = FakeCache(.kernelKeyring)
    private let file = FakeCache(.runtimeFile)
    private let name = UnlockName(vaultID: SecureRandom.bytes(count: 16), .whenUnlocked)
    private let root = RootKey.random()

    private var caches: UnlockCaches { UnlockCaches([kernel, file]) }

    private func store(seconds: UInt64? = nil) throws(VaultError) {
        let deadline = seconds.map { BootClock.milliseconds() + 1000 * $0 } ?? 0
        let ticket = UnlockTicket.make(name, root: root, deadline: deadline)
        try caches.store(ticket, as: name, for: seconds.map { .seconds($0) })
    }

    private func state() throws -> UnlockState { try caches.state(of: name, in: "/nowhere", nil) }

    @Test func theFirstOneThatWorksKeepsTheTicket() throws {
        try store()
        #expect((kernel.count, file.count) == (1, 0))
        #expect(caches.place == .kernelKeyring)
        #expect(try state() == .unlocked(for: nil))
    }

    @Test func whereTheKernelRefusesTheFileKeepsIt() throws {
        kernel.fail(with: .noUnlockCache)
        try store()
        #expect((kernel.count, file.count) == (0, 1))
        #expect(caches.place == .runtimeFile)
        #expect(try state() == .unlocked(for: nil))
        // A program that may use the kernel's keyring finds the key nevertheless.
        kernel.fail(with: nil)
        #expect(try state() == .unlocked(for: nil))
    }

    @Test func aNewTicketLeavesNoOlderOneElsewhere() throws {
        kernel.fail(with: .noUnlockCache)
        try store()
        kernel.fail(with: nil)
        try store(seconds: 600)
        #expect((kernel.count, file.count) == (1, 0))
        guard case .unlocked(let left?) = try state() else { return #expect(Bool(false), "no time limit") }
        #expect(left <= .seconds(600))
    }

    @Test func aLockReachesEveryCache() throws {
        kernel.fail(with: .noUnlockCache)
        try store()
        kernel.fail(with: nil)
        try caches.remove(name)
        #expect(try state() == .locked)
        #expect(file.count == 0)
        kernel.fail(with: .noUnlockCache)
        try caches.remove(name)
    }

    @Test func aRemovalThatFailsIsReportedAfterTheOthersWereTried() throws {
        kernel.fail(with: .noUnlockCache)
        try store()
        kernel.fail(with: .file)
        #expect(code { () throws(VaultError) in try caches.remove(name) } == .file)
        #expect(file.count == 0)
    }

    @Test func withoutAWorkingCacheUnlockingFailsAndEverythingIsLocked() throws {
        kernel.fail(with: .noUnlockCache)
        file.fail(with: .noUnlockCache)
        #expect(code { () throws(VaultError) in try store() } == .noUnlockCache)
        #expect(caches.place == nil)
        #expect(try state() == .locked)
        #expect(code { () throws(VaultError) in try UnlockCaches([]).remove(name) } == nil)
    }

    @Test func aCacheThatCannotBeTrustedIsAnErrorNotALock() throws {
        kernel.fail(with: .unsafeFile)
        #expect(
            code { () throws(VaultError) in _ = try caches.state(of: name, in: "/nowhere", nil) } == .unsafeFile)
        #expect(code { () throws(VaultError) in try store() } == .unsafeFile)
        #expect(file.count == 0)
    }
}
