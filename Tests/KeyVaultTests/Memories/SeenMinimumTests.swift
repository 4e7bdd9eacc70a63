import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the minimum epoch that a user's programs remember.
@Suite struct SeenMinimumTests {
    private let sandbox: RememberedVault
    private var fixture: VaultFixture { sandbox.fixture }
    private var credential: VaultCredential { sandbox.credential }

    init() throws { sandbox = try RememberedVault() }

    /// Completes a rotation without anything to reseal, and returns the minimum epoch.
    private func rotate(_ vault: Vault) throws -> UInt32 {
        let epoch = try #require(try vault.beginRotation(of: .afterFirstUnlock))
        try vault.completeRotation(of: .afterFirstUnlock, to: epoch)
        return epoch
    }

    /// Writes `vault` with a lower minimum epoch, as a service of another user can.
    private func lowerMinimum(to epoch: UInt32 = 1) throws {
        let other = try VaultFixture()
        _ = try other.create()
        try other.forget()
        try other.restore(try fixture.copy())
        let service = try other.open(with: .keyFile(path: fixture.keyFile))
        try service.change(.rotationBegun) { draft throws(VaultError) in
            draft.changeRotation(of: .afterFirstUnlock) { $0.minimumEpoch = epoch }
        }
        try fixture.restore(try other.copy())
    }

    @Test(.enabled(if: MemoryDirectory.isAvailable))
    func aLowerMinimumOfThePeriodIsRefusedUntilItIsAccepted() throws {
        let cache = try MemoryDirectory()
        try UnlockCaches.$current.withValue(.runtimeFile(below: cache.path)) {
            let person = try sandbox.create()
            let running = try fixture.open()
            try person.unlock()
            let epoch = try rotate(person)
            #expect(try running.currentKeyring().minimumEpoch(of: .afterFirstUnlock) == epoch)
            #expect(try sandbox.memory().minimum == SeenMinimum(epoch: epoch, period: 1))
            let honest = try fixture.copy()
            try lowerMinimum()
            for vault in [running, person] {
                #expect(code { () throws(VaultError) in try vault.add("s", "x", .afterFirstUnlock) } == .rolledBack)
            }
            // The user has unlocked the vault, so items of *when unlocked* open with every credential.
            for opening in [VaultCredential.unlocked, credential, .defaultKeyFile] {
                let opened = try fixture.open(with: opening)
                #expect(try opened.value("s", "person") == [1])
                #expect(code { () throws(VaultError) in _ = try opened.value("s", "service") } == .rolledBack)
            }
            // The refused write has raised no watermark.
            try fixture.restore(honest)
            #expect(try running.value("s", "service") == [2])
            try lowerMinimum()
            try fixture.accept(credential)
            #expect(try sandbox.memory().minimum == SeenMinimum(epoch: 1, period: 1))
            for vault in [running, try fixture.open()] {
                #expect(try vault.currentKeyring().minimumEpoch(of: .afterFirstUnlock) == 1)
            }
        }
    }

    @Test func anInventoryRefusesALowerMinimumAndChangesNothing() throws {
        let person = try sandbox.create()
        _ = try rotate(person)
        let honest = try fixture.copy()
        try lowerMinimum()
        let known = try sandbox.memory()
        for credential in [VaultCredential.defaultKeyFile, credential] {
            #expect(
                code { () throws(VaultError) in
                    _ = try Vault.inventory(fixture.accessGroup, in: fixture.home, with: credential)
                } == .rolledBack)
        }
        #expect(try sandbox.memory() == known)
        try fixture.restore(honest)
        #expect(try Vault.inventory(fixture.accessGroup, in: fixture.home).itemCount == 1)
    }

    @Test func aRekeyContinuesWithTheHigherMinimum() throws {
        let person = try sandbox.create()
        let epoch = try rotate(person)
        try lowerMinimum()
        let opened = try fixture.open(with: credential)
        #expect(code { () throws(VaultError) in try opened.rekey() } == .rolledBack)
        var options = RekeyOptions()
        options.rebuildsServices = true
        let report = try opened.rekey(options)
        #expect(report.losses.isCompartmentOlder && !report.losses.isCompartmentLost)
        #expect(try fixture.open().currentKeyring().minimumEpoch(of: .afterFirstUnlock) == epoch)
        #expect(try sandbox.memory().minimum == SeenMinimum(epoch: epoch, period: 2))
    }

    @Test func aStoredMinimumOfOnePeriodOnlyRises() throws {
        _ = try sandbox.create()
        let chain = try #require(try fixture.open().current().register).chain.map(\.key.bytes)
        var new = try sandbox.memory()
        let (five, three) = (SeenMinimum(epoch: 5, period: 1), SeenMinimum(epoch: 3, period: 1))
        let (later, former) = (SeenMinimum(epoch: 2, period: 2), SeenMinimum(epoch: 9, period: 1))
        for (seen, kept) in [(five, five), (three, five), (later, later), (former, later)] {
            new.minimum = seen
            fixture.place.memory.store(new, chain: chain)
            #expect(try sandbox.memory().minimum == kept)
        }
        new.minimum = .none
        fixture.place.memory.store(new, isAccepted: true)
        #expect(try sandbox.memory().minimum == .none)
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aMinimumThatAFullDiskDroppedCountsInARunningProgram() throws {
        let places = try SmallFileSystem(at: try fixture.directory.directory("Places"))
        defer { withExtendedLifetime(places) {} }
        let person = try sandbox.create()
        let running = try fixture.open()
        try places.fillBytes()
        let epoch = try rotate(person)
        #expect(try running.currentKeyring().minimumEpoch(of: .afterFirstUnlock) == epoch)
        #expect(try sandbox.memory().minimum == SeenMinimum(epoch: 1, period: 1))
        try lowerMinimum()
        for vault in [running, person] {
            #expect(code { () throws(VaultError) in try vault.add("s", "x", .afterFirstUnlock) } == .rolledBack)
        }
    }

    /// Contents without a register say nothing about the place, so what was not stored still counts after them.
    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aMinimumThatAFullDiskDroppedCountsAfterALookWithoutPersons() throws {
        let places = try SmallFileSystem(at: try fixture.directory.directory("Places"))
        defer { withExtendedLifetime(places) {} }
        let person = try sandbox.create()
        let running = try fixture.open()
        try places.fillBytes()
        let epoch = try rotate(person)
        _ = try running.current()
        let honest = try fixture.copy()
        unlink(fixture.personPath)
        _ = try running.current()
        #expect(running.unstoredMinimum?.seen == SeenMinimum(epoch: epoch, period: 1))
        try fixture.restore(honest)
        try lowerMinimum()
        #expect(code { () throws(VaultError) in _ = try running.current() } == .rolledBack)
        #expect(try sandbox.memory().minimum == SeenMinimum(epoch: 1, period: 1))
    }

    /// A person continues with *when unlocked* beside an older `vault`, whose minimum those contents do not have.
    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aPersonsChangeKeepsAMinimumThatAFullDiskDropped() throws {
        let places = try SmallFileSystem(at: try fixture.directory.directory("Places"))
        defer { withExtendedLifetime(places) {} }
        let person = try sandbox.create()
        try places.fillBytes()
        let seen = SeenMinimum(epoch: try rotate(person), period: 1)
        try lowerMinimum()
        try person.add("s", "first", .whenUnlocked)
        #expect(person.unstoredMinimum?.seen == seen)
        #expect(unlink("\(places.path)/fill") == 0)
        try person.add("s", "second", .whenUnlocked)
        #expect(try sandbox.memory().minimum == seen)
        #expect(code { () throws(VaultError) in try person.add("s", "x", .afterFirstUnlock) } == .rolledBack)
    }

    // running:  follows the second epoch, the disk is full .............................. follows
    // person:   ........................................... there is room, accepts the first
    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func anAcceptanceEndsAMinimumThatAFullDiskDropped() throws {
        let places = try SmallFileSystem(at: try fixture.directory.directory("Places"))
        defer { withExtendedLifetime(places) {} }
        let person = try sandbox.create()
        let running = try fixture.open()
        try places.fillBytes()
        let (first, second) = (try rotate(person), try rotate(person))
        #expect(try running.currentKeyring().minimumEpoch(of: .afterFirstUnlock) == second)
        #expect(unlink("\(places.path)/fill") == 0)
        try lowerMinimum(to: first)
        // The refused contents are not remembered.
        #expect(code { () throws(VaultError) in _ = try running.current() } == .rolledBack)
        #expect(try sandbox.memory().minimum == SeenMinimum(epoch: 1, period: 1))
        try fixture.accept(credential)
        #expect(try running.currentKeyring().minimumEpoch(of: .afterFirstUnlock) == first)
        #expect(try sandbox.memory().minimum == SeenMinimum(epoch: first, period: 1))
        #expect(running.unstoredMinimum == nil)
    }
}
