import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import SystemPackage
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the roots of an open vault, with either cache.
@Suite(.enabled(if: MemoryDirectory.isAvailable)) struct VaultKeysTests {
    /// A vault's directory and roots. Its tickets in a cache are removed at the end.
    final class Place {
        let sandbox: CacheSandbox
        let directory: TemporaryDirectory
        let vaultID = SecureRandom.bytes(count: 16)
        let service = RootKey.random()
        let person = RootKey.random()

        init(_ kind: CacheKind) throws {
            sandbox = try CacheSandbox(kind)
            directory = try TemporaryDirectory()
        }

        deinit {
            for name in [first, second] { try? sandbox.caches.remove(name) }
        }

        var first: UnlockName { UnlockName(vaultID: vaultID, .afterFirstUnlock) }
        var second: UnlockName { UnlockName(vaultID: vaultID, .whenUnlocked) }
        var stamp: String { directory.path(LockStamp.leaf) }

        /// Returns the keys of another opening, by a person's slot or by an unattended one.
        func keys(
            by reach: SlotReach, caches: UnlockCaches? = nil, openedAt stamp: LockStamp? = nil
        ) throws -> VaultKeys {
            let directory = try Directory.open(directory.path)
            return VaultKeys(
                service: service, person: reach == .whenUnlocked ? person : nil, slot: nil, vaultID: vaultID,
                directory: directory, openedAt: stamp ?? .ifReadable(in: directory.path),
                caches: caches ?? sandbox.caches)
        }

        func state(_ name: UnlockName) throws -> UnlockState {
            try sandbox.caches.state(of: name, in: FilePath(directory.path), nil)
        }

        /// Returns "key" if the person root is available, or the code of the refusal.
        func use(_ keys: VaultKeys) -> String {
            do throws(VaultError) {
                return try keys.withPerson { root throws(VaultError) in
                    root.commitment == person.commitment ? "key" : "another key"
                }
            } catch {
                return error.code.rawValue
            }
        }

        func lock() throws {
            try LockStamp.replace(in: Directory.open(directory.path))
            try sandbox.caches.remove(second)
        }
    }

    // MARK: Held

    @Test func aPersonsSlotGivesTheKeyWithoutAnyCache() throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        let keys = try place.keys(by: .whenUnlocked, caches: UnlockCaches([]))
        #expect(place.use(keys) == "key")
        #expect(try keys.reachesPerson())
        #expect(!SystemFile.exists(place.stamp))
    }

    @Test func aLockTakesAHeldKeyAwayForGood() throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        try place.lock()
        let before = try SystemFile.read(place.stamp)
        let keys = try place.keys(by: .whenUnlocked)
        #expect(place.use(keys) == "key")
        try place.lock()
        #expect(place.use(keys) == "locked")
        #expect(try !keys.reachesPerson())
        // The key was wiped, so restoring the old stamp has no effect.
        try SystemFile.write(place.stamp, before)
        #expect(place.use(keys) == "locked")
        #expect(keys.service.commitment == place.service.commitment)
    }

    @Test func aStampThatIsGoneIsALock() throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        try place.lock()
        let keys = try place.keys(by: .whenUnlocked)
        unlink(place.stamp)
        #expect(place.use(keys) == "locked")
    }

    @Test func aProgramThatOpensAfterALockIsNotLocked() throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        try place.lock()
        #expect(place.use(try place.keys(by: .whenUnlocked)) == "key")
    }

    @Test func aStampThatWasUnknownAtTheOpeningIsALock() throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        #expect(place.use(try place.keys(by: .whenUnlocked, openedAt: .unknown)) == "locked")
        try place.lock()
        #expect(place.use(try place.keys(by: .whenUnlocked, openedAt: .unknown)) == "locked")
    }

    // MARK: Shared

    @Test(arguments: CacheKind.usable) func anUnattendedOpeningReachesTheKeyWhileItIsUnlocked(
        _ kind: CacheKind
    ) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        let service = try place.keys(by: .afterFirstUnlock)
        #expect(place.use(service) == "locked")
        let person = try place.keys(by: .whenUnlocked)
        #expect(try person.share(for: nil))
        #expect(place.use(service) == "key")
        #expect(place.use(person) == "key")
        try place.lock()
        #expect(place.use(service) == "locked")
        #expect(place.use(person) == "locked")
    }

    /// A process that has shared the key depends on the cache as well, because otherwise a time limit would not apply
    /// to it.
    @Test(arguments: CacheKind.usable) func theEndOfATimeLimitReachesWhoUnlocked(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        let person = try place.keys(by: .whenUnlocked)
        #expect(try person.share(for: .seconds(1)))
        #expect(eventually { place.use(person) == "locked" })
        #expect(place.use(try place.keys(by: .afterFirstUnlock)) == "locked")
        #expect(try place.sandbox.caches.holdKeys(vaultID: place.vaultID))
    }

    @Test(arguments: CacheKind.usable) func anUnattendedOpeningSharesTheFirstClassOnly(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        #expect(try !place.keys(by: .afterFirstUnlock).share(for: nil))
        #expect(try place.sandbox.caches.holdKeys(vaultID: place.vaultID))
        #expect(place.use(try place.keys(by: .afterFirstUnlock)) == "locked")
    }

    @Test(arguments: CacheKind.usable) func aSharedTicketOpensTheVaultAndReachesNoFurther(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        let person = try place.keys(by: .whenUnlocked)
        _ = try person.share(for: nil)
        let found = try #require(try place.sandbox.caches.serviceRoot(vaultID: place.vaultID))
        #expect(found.commitment == place.service.commitment)
    }

    @Test(arguments: CacheKind.usable) func aLockedProgramCannotUnlockForOthers(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        let person = try place.keys(by: .whenUnlocked)
        try place.lock()
        #expect(code { () throws(VaultError) in _ = try person.share(for: nil) } == .locked)
        #expect(try !place.sandbox.caches.holdKeys(vaultID: place.vaultID))
    }

    @Test(arguments: CacheKind.usable) func aPersonMayProlongWhatTheyUnlocked(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        let person = try place.keys(by: .whenUnlocked)
        #expect(try person.share(for: .seconds(3600)))
        #expect(try person.share(for: nil))
        #expect(try place.state(place.second) == .unlocked(for: nil))
        try place.lock()
        #expect(code { () throws(VaultError) in _ = try person.share(for: nil) } == .locked)
    }

    @Test func withoutAnyCacheThereIsNoSharing() throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        let person = try place.keys(by: .whenUnlocked, caches: UnlockCaches([]))
        #expect(code { () throws(VaultError) in _ = try person.share(for: nil) } == .noUnlockCache)
        #expect(place.use(person) == "key")
    }

    /// The lock happens after the check of the stamp, before the key is in the cache.
    @Test(arguments: [false, true]) func anUnlockThatMeetsALockTakesBackOnlyWhatIsItsOwn(_ wasThere: Bool) throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        if wasThere { _ = try place.keys(by: .afterFirstUnlock).share(for: nil) }
        let memory = try #require(place.sandbox.memory)
        let directory = try Directory.open(place.directory.path)
        let cache = InterruptedCache(cache: RuntimeFileCache(below: memory.path), name: place.second) {
            () throws(VaultError) in try LockStamp.replace(in: directory)
        }
        let person = try place.keys(by: .whenUnlocked, caches: UnlockCaches([cache]))
        #expect(code { () throws(VaultError) in _ = try person.share(for: nil) } == .locked)
        #expect(try place.state(place.first).isUnlocked == wasThere)
        #expect(try SystemFile.names(memory.tickets).count == (wasThere ? 1 : 0))
    }
}

/// A cache that runs a closure just before a ticket of one name is stored.
private struct InterruptedCache: UnlockCache {
    let cache: RuntimeFileCache
    let name: UnlockName
    let interruption: @Sendable () throws(VaultError) -> Void

    var place: UnlockPlace { cache.place }
    var isUsable: Bool { cache.isUsable }

    func store(_ ticket: UnsafeRawBufferPointer, as name: UnlockName, for lifetime: Duration?) throws(VaultError) {
        if name == self.name { try interruption() }
        try cache.store(ticket, as: name, for: lifetime)
    }

    func read(_ name: UnlockName, into buffer: UnsafeMutableRawBufferPointer) throws(VaultError) -> Int? {
        try cache.read(name, into: buffer)
    }

    func remove(_ name: UnlockName) throws(VaultError) { try cache.remove(name) }
    func wipeExpired(_ name: UnlockName) { cache.wipeExpired(name) }
}
