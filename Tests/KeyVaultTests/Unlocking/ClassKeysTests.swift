import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import SystemPackage
import TestSupport
import Testing

@testable import KeyVault

/// Who gets the class keys, through either cache.
@Suite(.enabled(if: MemoryDirectory.isAvailable)) struct ClassKeysTests {
    /// A vault's directory and secrets; what it leaves in a cache is removed at the end.
    final class Place {
        let yard: CacheYard
        let directory: TemporaryDirectory
        let vaultID = SecureRandom.bytes(count: 16)
        private let secrets = VaultSecrets.random()

        init(_ kind: CacheKind) throws {
            yard = try CacheYard(kind)
            directory = try TemporaryDirectory()
        }

        deinit {
            for name in [first, second] { try? yard.caches.remove(name) }
        }

        var first: UnlockName { UnlockName(vaultID: vaultID, .afterFirstUnlock) }
        var second: UnlockName { UnlockName(vaultID: vaultID, .whenUnlocked) }
        var stamp: String { directory.path(LockStamp.leaf) }

        /// Another opening: by a person's slot, or by an unattended one.
        func keys(
            by reach: SlotReach, caches: UnlockCaches? = nil, openedAt stamp: LockStamp? = nil
        ) throws -> ClassKeys {
            let directory = try Directory.open(directory.path)
            let whenUnlocked = reach == .whenUnlocked ? secrets.whenUnlocked?.copied() : nil
            return ClassKeys(
                VaultSecrets(
                    root: secrets.root.copied(), afterFirstUnlock: secrets.afterFirstUnlock.copied(),
                    whenUnlocked: whenUnlocked),
                vaultID: vaultID, directory: directory, openedAt: stamp ?? .ifReadable(in: directory.path),
                caches: caches ?? yard.caches)
        }

        /// Names the when-unlocked key that the vault has.
        var keyID: Bytes16 { secrets.whenUnlockedID }

        func state(_ name: UnlockName) throws -> UnlockState {
            try yard.caches.state(of: name, root: secrets.root, in: FilePath(directory.path))
        }

        /// The when-unlocked key that the vault has, or the code of the refusal.
        func use(_ keys: ClassKeys) -> String {
            func name(_ key: UnsafeRawBufferPointer) -> String {
                secrets.whenUnlocked?.withUnsafeBytes { ConstantTime.areEqual($0, key) } == true ? "key" : "another key"
            }
            do throws(VaultError) {
                let bytes = try keys.withKeyBytes(.whenUnlocked) { key throws(VaultError) in name(key) }
                let secret = try keys.withKey(.whenUnlocked) { key throws(VaultError) in key.withUnsafeBytes(name) }
                return bytes == secret ? bytes : "\(bytes), \(secret)"
            } catch {
                return error.code.rawValue
            }
        }

        func lock() throws {
            try LockStamp.replace(in: Directory.open(directory.path))
            try yard.caches.remove(second)
        }
    }

    // MARK: Held

    @Test func aPersonsSlotGivesTheKeyWithoutAnyCache() throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        let keys = try place.keys(by: .whenUnlocked, caches: UnlockCaches([]))
        #expect(place.use(keys) == "key")
        #expect(try keys.reaches(.whenUnlocked))
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
        #expect(try !keys.reaches(.whenUnlocked))
        // It was wiped, so putting the old stamp back brings nothing back.
        try SystemFile.write(place.stamp, before)
        #expect(place.use(keys) == "locked")
        #expect(try keys.withKeyBytes(.afterFirstUnlock) { key in key.count } == 32)
    }

    @Test func aStampThatIsGoneIsALock() throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        try place.lock()
        let keys = try place.keys(by: .whenUnlocked)
        unlink(place.stamp)
        #expect(place.use(keys) == "locked")
    }

    @Test func whoOpensAfterALockIsNotLocked() throws {
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

    // MARK: Which key

    @Test func aKeyThatIsNotTheVaultsAnyMoreIsRefused() throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        for id in [WhenUnlockedKeyID.none, Bytes16(filling: { SecureRandom.fill($0) })] {
            let keys = try place.keys(by: .whenUnlocked)
            keys.expect(whenUnlockedID: place.keyID, asOf: 1)
            #expect(place.use(keys) == "key")
            keys.expect(whenUnlockedID: id, asOf: 3)
            // What an older write says comes too late.
            keys.expect(whenUnlockedID: place.keyID, asOf: 2)
            #expect(place.use(keys) == "locked")
            #expect(code { () throws(VaultError) in _ = try keys.joined(reach: .whenUnlocked) } == .locked)
            #expect(code { () throws(VaultError) in _ = try keys.share(for: nil) } == .locked)
        }
    }

    @Test(arguments: CacheKind.usable) func aKeyInACacheThatIsNotTheVaultsAnyMoreIsRefused(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        _ = try place.keys(by: .whenUnlocked).share(for: nil)
        let service = try place.keys(by: .afterFirstUnlock)
        service.expect(whenUnlockedID: place.keyID, asOf: 1)
        #expect(place.use(service) == "key")
        service.expect(whenUnlockedID: Bytes16(filling: { SecureRandom.fill($0) }), asOf: 2)
        #expect(place.use(service) == "locked")
        #expect(code { () throws(VaultError) in _ = try service.joined(reach: .whenUnlocked) } == .locked)
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

    /// Whoever has shared the key depends on the cache like everybody else, or a time limit would not reach it.
    @Test(arguments: CacheKind.usable) func theEndOfATimeLimitReachesWhoUnlocked(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        let person = try place.keys(by: .whenUnlocked)
        #expect(try person.share(for: .seconds(1)))
        #expect(eventually { place.use(person) == "locked" })
        #expect(place.use(try place.keys(by: .afterFirstUnlock)) == "locked")
        #expect(try place.yard.caches.holdKeys(vaultID: place.vaultID))
    }

    @Test(arguments: CacheKind.usable) func anUnattendedOpeningSharesTheFirstClassOnly(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        #expect(try !place.keys(by: .afterFirstUnlock).share(for: nil))
        #expect(try place.yard.caches.holdKeys(vaultID: place.vaultID))
        #expect(place.use(try place.keys(by: .afterFirstUnlock)) == "locked")
    }

    @Test(arguments: CacheKind.usable) func whatIsSharedOpensTheVaultAndReachesNoFurther(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        let person = try place.keys(by: .whenUnlocked)
        _ = try person.share(for: nil)
        guard let found = try place.yard.caches.secrets(vaultID: place.vaultID) else {
            Issue.record("nothing found")
            return
        }
        let isRoot = found.root.isEqual(to: person.root)
        #expect(isRoot)
        switch found.whenUnlocked {
        case .some: Issue.record("the first class carries the second")
        case .none: break
        }
    }

    @Test(arguments: CacheKind.usable) func whoWasLockedCannotUnlockForOthers(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        let person = try place.keys(by: .whenUnlocked)
        try place.lock()
        #expect(code { () throws(VaultError) in _ = try person.share(for: nil) } == .locked)
        #expect(try !place.yard.caches.holdKeys(vaultID: place.vaultID))
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

    @Test(arguments: CacheKind.usable) func aKeyUnderAnotherRootIsNotBelieved(_ kind: CacheKind) throws {
        let place = try Place(kind)
        defer { withExtendedLifetime(place) {} }
        let root = SecretBytes.random(count: 32)
        let ticket = root.withUnsafeBytes { UnlockTicket.make(place.second, secret: $0, deadline: 0, root: root) }
        try place.yard.caches.store(ticket, as: place.second, for: nil)
        #expect(place.use(try place.keys(by: .afterFirstUnlock)) == "locked")
    }

    /// The lock comes after the look at the stamp, before the key is in the cache.
    @Test(arguments: [false, true]) func anUnlockThatMeetsALockTakesBackOnlyWhatIsItsOwn(_ wasThere: Bool) throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        if wasThere { _ = try place.keys(by: .afterFirstUnlock).share(for: nil) }
        let memory = try #require(place.yard.memory)
        let directory = try Directory.open(place.directory.path)
        let cache = InterruptedCache(cache: RuntimeFileCache(below: memory.path), name: place.second) {
            () throws(VaultError) in try LockStamp.replace(in: directory)
        }
        let person = try place.keys(by: .whenUnlocked, caches: UnlockCaches([cache]))
        #expect(code { () throws(VaultError) in _ = try person.share(for: nil) } == .locked)
        #expect(try place.state(place.first).isUnlocked == wasThere)
        #expect(try SystemFile.names(memory.tickets).count == (wasThere ? 1 : 0))
    }

    // MARK: Slots

    @Test func theKeysAreJoinedAsASlotWrapsThem() throws {
        let place = try Place(.file)
        defer { withExtendedLifetime(place) {} }
        let secrets = VaultSecrets.random()
        let expected = [SlotReach.afterFirstUnlock, .whenUnlocked].map { reach in
            secrets.joined(reach: reach)?.withUnsafeBytes { Array($0) }
        }
        let keys = ClassKeys(
            secrets, vaultID: place.vaultID, directory: try Directory.open(place.directory.path), openedAt: .none,
            caches: UnlockCaches([]))
        #expect(try keys.joined(reach: .afterFirstUnlock).withUnsafeBytes { Array($0) } == expected[0])
        #expect(try keys.joined(reach: .whenUnlocked).withUnsafeBytes { Array($0) } == expected[1])
        try LockStamp.replace(in: Directory.open(place.directory.path))
        #expect(code { () throws(VaultError) in _ = try keys.joined(reach: .whenUnlocked) } == .locked)
    }
}

/// Does something just before a ticket of one name is stored.
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
