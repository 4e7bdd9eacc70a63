import CryptoPrimitives
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the common behaviour of every cache.
@Suite(.enabled(if: MemoryDirectory.isAvailable)) struct UnlockCacheTests {
    /// A cache, and names that no other test uses. Its tickets are removed at the end.
    final class Place {
        let sandbox: CacheSandbox
        let cache: any UnlockCache
        let vaultID = SecureRandom.bytes(count: 16)

        init(_ kind: CacheKind) throws {
            sandbox = try CacheSandbox(kind)
            cache = sandbox.memory.map { RuntimeFileCache(below: $0.path) } ?? KernelKeyring()
        }

        deinit { for name in [first, second] { try? cache.remove(name) } }

        var first: UnlockName { UnlockName(vaultID: vaultID, .afterFirstUnlock) }
        var second: UnlockName { UnlockName(vaultID: vaultID, .whenUnlocked) }

        func store(_ text: String, as name: UnlockName, for lifetime: Duration? = nil) throws {
            try Array(text.utf8).withUnsafeBytes { try cache.store($0, as: name, for: lifetime) }
        }

        func read(_ name: UnlockName, room: Int = 200) throws -> String? {
            var bytes = [UInt8](repeating: 0, count: room)
            let count = try bytes.withUnsafeMutableBytes { try cache.read(name, into: $0) }
            return count.map { String(decoding: bytes[..<$0], as: UTF8.self) }
        }
    }

    @Test(arguments: CacheKind.usable) func storedKeysAreFound(_ kind: CacheKind) throws {
        let place = try Place(kind)
        #expect(try place.read(place.first) == nil)
        try place.store("ticket", as: place.first)
        #expect(try place.read(place.first) == "ticket")
        #expect(place.cache.isUsable)
    }

    @Test(arguments: CacheKind.usable) func aNewerTicketTakesTheOldOnesPlace(_ kind: CacheKind) throws {
        let place = try Place(kind)
        try place.store("a longer ticket", as: place.first)
        try place.store("ticket", as: place.first)
        #expect(try place.read(place.first) == "ticket")
    }

    @Test(arguments: CacheKind.usable) func aRemovedTicketIsGoneAndTheOtherStays(_ kind: CacheKind) throws {
        let place = try Place(kind)
        try place.store("one", as: place.first)
        try place.store("two", as: place.second)
        try place.cache.remove(place.second)
        #expect(try place.read(place.second) == nil)
        #expect(try place.read(place.first) == "one")
        try place.cache.remove(place.second)
    }

    @Test(arguments: CacheKind.usable) func aTicketThatDoesNotMatchIsIgnored(_ kind: CacheKind) throws {
        let place = try Place(kind)
        try place.store("ticket", as: place.first)
        #expect(try place.read(place.first, room: 5) == nil)
        #expect(try place.read(place.first, room: 6) == "ticket")
    }

    @Test(arguments: CacheKind.usable) func lookingMakesNothing(_ kind: CacheKind) throws {
        let place = try Place(kind)
        _ = place.cache.isUsable
        #expect(try place.read(place.first) == nil)
        try place.cache.remove(place.first)
        place.cache.wipeExpired(place.first)
        #expect(try place.sandbox.memory.map { try SystemFile.names($0.path) } ?? [] == [])
    }

    /// Threads of one process must not find an incomplete ticket either.
    @Test(arguments: CacheKind.usable) func storesAtOnceLeaveOneWholeTicket(_ kind: CacheKind) throws {
        let place = try Place(kind)
        let cache = place.cache
        let name = place.first
        let texts = (0..<8).map { String(repeating: "\($0)", count: 10 + $0) }
        let results = try concurrently(texts.count) { index in
            for _ in 0..<20 { try Array(texts[index].utf8).withUnsafeBytes { try cache.store($0, as: name, for: nil) } }
        }
        for result in results { try result.get() }
        #expect(texts.contains(try place.read(name) ?? ""))
    }

    // MARK: Time limits

    @Test(arguments: CacheKind.usable) func aTicketEndsWithItsTime(_ kind: CacheKind) throws {
        let place = try Place(kind)
        let deadline = BootClock.milliseconds() + 1500
        let ticket = UnlockTicket.make(place.second, root: .random(), deadline: deadline)
        let caches = UnlockCaches([place.cache])
        try caches.store(ticket, as: place.second, for: .milliseconds(1500))
        try place.store("stays", as: place.first)
        #expect(try eventually { try caches.state(of: place.second, in: "/nowhere", nil) == .locked })
        #expect(BootClock.milliseconds() >= deadline)
        place.cache.wipeExpired(place.second)
        place.cache.wipeExpired(place.first)
        // The expired ticket is removed, not only refused. The kernel takes up to two seconds more.
        #expect(try eventually { try place.read(place.second) == nil })
        #expect(try place.read(place.first) == "stays")
    }

    @Test(arguments: CacheKind.usable) func aTimedTicketBecomesUnlimitedWhenItIsStoredAgain(_ kind: CacheKind) throws {
        let place = try Place(kind)
        try place.store("timed", as: place.first, for: .seconds(1))
        try place.store("unlimited", as: place.first)
        usleep(3_200_000)
        #expect(try place.read(place.first) == "unlimited")
    }
}
