import CryptoPrimitives
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import KeyVault

@Suite(.enabled(if: MemoryDirectory.isAvailable)) struct RuntimeFileCacheTests {
    let memory: MemoryDirectory
    let name = UnlockName(vaultID: SecureRandom.bytes(count: 16), .afterFirstUnlock)

    init() throws { memory = try MemoryDirectory() }

    private var cache: RuntimeFileCache { RuntimeFileCache(below: memory.path) }

    private func store(in cache: RuntimeFileCache) throws(VaultError) {
        try [UInt8](repeating: 7, count: 40).withRawBytes { bytes throws(VaultError) in
            try cache.store(bytes, as: name, for: nil)
        }
    }

    private func read(_ cache: RuntimeFileCache) throws(VaultError) -> Int? {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 8)
        defer { room.deallocate() }
        return try cache.read(name, into: room)
    }

    private func readCode() -> VaultError.Code? { code { () throws(VaultError) in _ = try read(cache) } }

    @Test func filesAndTheirDirectoryAreTheOwnersOnly() throws {
        let mask = umask(0)
        defer { umask(mask) }
        try store(in: cache)
        #expect(try SystemFile.mode(memory.tickets) == 0o700)
        #expect(try SystemFile.mode(memory.onlyFile()) == 0o600)
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o602] as [UInt32]) func aFileThatOthersReachIsRefused(_ mode: UInt32) throws
    {
        try store(in: cache)
        chmod(try memory.onlyFile(), mode)
        #expect(readCode() == .unsafeFile)
    }

    @Test(arguments: [0o750, 0o701, 0o777] as [UInt32]) func aDirectoryThatOthersReachIsRefused(_ mode: UInt32) throws {
        try store(in: cache)
        chmod(memory.tickets, mode)
        #expect(readCode() == .unsafeFile)
        #expect(code { () throws(VaultError) in try store(in: cache) } == .unsafeFile)
    }

    @Test(.enabled(if: geteuid() == 0)) func aFileOfAnotherOwnerIsRefused() throws {
        try store(in: cache)
        chown(try memory.onlyFile(), 65_534, 65_534)
        #expect(readCode() == .unsafeFile)
    }

    @Test(.enabled(if: geteuid() == 0)) func aDirectoryOfAnotherOwnerIsRefused() throws {
        try store(in: cache)
        chown(memory.tickets, 65_534, 65_534)
        #expect(readCode() == .unsafeFile)
    }

    @Test func aPlantedLinkOrPipeIsRefusedWithoutBeingFollowed() throws {
        try store(in: cache)
        let file = try memory.onlyFile()
        let target = "\(memory.path)/target"
        try SystemFile.write(target, [UInt8](repeating: 7, count: 40))
        unlink(file)
        symlink(target, file)
        #expect(readCode() == .unsafeFile)
        cache.wipeExpired(name)
        unlink(file)
        mkfifo(file, 0o600)
        #expect(readCode() == .unsafeFile)
        // Storing replaces the link and leaves the target unchanged.
        unlink(file)
        symlink(target, file)
        try store(in: cache)
        #expect(try read(cache) == 40)
        #expect(try SystemFile.read(target).count == 40)
    }

    @Test func aRuntimeDirectoryOnADiskIsNotUsed() throws {
        let disk = try TemporaryDirectory(onDisk: true)
        let cache = RuntimeFileCache(below: disk.path)
        #expect(!cache.isUsable)
        #expect(code { () throws(VaultError) in try store(in: cache) } == .noUnlockCache)
        #expect(try SystemFile.names(disk.path) == [])
        // This also holds if the file was created by hand.
        try disk.directory("sealed-groups")
        try SystemFile.write(disk.path("sealed-groups/\(name.text)"), [UInt8](repeating: 7, count: 40))
        #expect(code { () throws(VaultError) in _ = try read(cache) } == .noUnlockCache)
    }

    @Test(arguments: [0o755, 0o770, 0o1777] as [UInt32])
    func aRuntimeDirectoryThatOthersReachIsRefused(_ mode: UInt32) throws {
        chmod(memory.path, mode)
        #expect(!cache.isUsable)
        #expect(code { () throws(VaultError) in try store(in: cache) } == .noUnlockCache)
    }

    @Test func aMissingRuntimeDirectoryIsNotUsed() {
        for cache in [RuntimeFileCache(below: "\(memory.path)/missing"), RuntimeFileCache(base: nil)] {
            #expect(!cache.isUsable)
            #expect(code { () throws(VaultError) in try store(in: cache) } == .noUnlockCache)
            #expect(code { () throws(VaultError) in _ = try read(cache) } == .noUnlockCache)
        }
    }

    @Test func aTicketOfAnotherBootIsRefused() throws {
        let caches = UnlockCaches([cache])
        for (boot, state) in [(BootID.current, UnlockState.unlocked(for: nil)), (WatermarkEntryTests.before, .locked)] {
            let ticket = UnlockTicket.make(name, root: .random(), deadline: 0, boot: boot)
            try caches.store(ticket, as: name, for: nil)
            #expect(try caches.state(of: name, in: "/nowhere", nil) == state)
        }
    }

    @Test func removingTakesWhatAKilledProgramLeftAsWell() throws {
        try store(in: cache)
        let bytes = [UInt8](repeating: 7, count: 40)
        let left = ["", ".0123456789abcdef"].map { "\(memory.tickets)/.\(name.text)\($0).new" }
        let other = "\(memory.tickets)/.sealedstate-another.0123456789abcdef.new"
        for path in left + [other] { try SystemFile.write(path, bytes) }
        try cache.remove(name)
        #expect(try memory.onlyFile() == other)
        for path in left { try SystemFile.write(path, bytes) }
        // This also holds if no other file exists.
        try cache.remove(name)
        #expect(try memory.onlyFile() == other)
    }

    @Test func wipingTouchesOnlyWhatIsOver() throws {
        let now = BootClock.milliseconds()
        for (deadline, isWiped) in [(UInt64(0), false), (now + 3_600_000, false), (now - 1, true)] {
            let ticket = UnlockTicket.make(name, root: .random(), deadline: deadline)
            try ticket.withUnsafeBytes { try cache.store($0, as: name, for: nil) }
            cache.wipeExpired(name)
            #expect(try SystemFile.read(memory.onlyFile()).isEmpty == isWiped)
        }
    }
}
