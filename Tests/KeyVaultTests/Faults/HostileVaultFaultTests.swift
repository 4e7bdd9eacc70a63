import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests with hostile compartment files: each leads to a typed error at little cost, and the file remains as it is.
@Suite(.timeLimit(.minutes(30))) struct HostileVaultFaultTests {
    let probe: VaultCostProbe
    let hostile: HostileVault

    init() throws {
        probe = try VaultCostProbe()
        hostile = HostileVault(probe.good)
    }

    @Test func numbersAtTheirLimitsAreRefused() throws {
        for forgery in hostile.forgeries { try probe.expectRefusal(of: forgery.bytes, forgery.name) }
        try probe.restore()
    }

    @Test func numbersAtTheirLimitsInTheCompartmentOfPersonsAreRefused() throws {
        let probe = try VaultCostProbe(.person)
        for forgery in HostileVault(probe.good).forgeries { try probe.expectRefusal(of: forgery.bytes, forgery.name) }
        try probe.restore()
    }

    @Test func everyTurnedBitIsRefusedRegardlessOfTheChecksum() throws {
        // The short form flips a different bit in each byte.
        let bits = (0..<hostile.good.count * 8).filter { isLongForm || $0 % 8 == $0 / 8 % 8 }
        for bit in bits { try probe.expectRefusal(of: hostile.flipped(bit), "bit \(bit)") }
        try probe.restore()
    }

    @Test(
        arguments: [
            // 2^30 KiB are 1 TiB.
            (3, 1 << 30), (1, .max), (.max, 8192), (33, 8192), (0, 8192), (1, 0), (1, 8191), (1, 1 << 20 + 1),
        ] as [(UInt32, UInt32)])
    func passphraseCostsBeyondTheBoundsAreNeverSpent(_ passes: UInt32, _ memoryKiB: UInt32) throws {
        let probe = try VaultCostProbe(.person)
        let bytes = try #require(HostileVault(probe.good).costs(passes: passes, memoryKiB: memoryKiB))
        let name = "\(passes) passes, \(memoryKiB) KiB"
        // Nothing is derived, because the register lists other costs.
        try probe.expectRefusal(of: bytes, name, as: ["wrongPassphrase"], growing: VaultCostProbe.growthLimit)
    }

    @Test(arguments: [0, 1]) func appendedBytesAreNotRead(_ filling: UInt8) throws {
        let hung = 60 << 20
        // The sizes end after the bytes that the checksum covers, after the bytes that the code covers, and after the
        // whole vault.
        for size in [hostile.file.checksum.lowerBound, hostile.file.parts, hostile.good.count] {
            try SystemFile.write(probe.path, Array(hostile.good[..<size]))
            try lengthen(by: hung, filling: filling)
            try probe.expectRefusal("60 MiB behind \(size) bytes", as: ["corrupt"])
        }
        // The size of the last part is corrected.
        let entry = hostile.file.table.upperBound - 48 + 4
        let last = (0..<4).reduce(0) { $0 | Int(hostile.good[entry + $1]) << ($1 * 8) }
        try SystemFile.write(probe.path, hostile.file.with(UInt32(last + hung), at: entry))
        try lengthen(by: hung, filling: filling)
        try probe.expectRefusal("60 MiB and their size", as: ["corrupt"])
        try SystemFile.write(probe.path, hostile.good)
        try #require(truncate(probe.path, 1 << 40) == 0)
        try probe.expectRefusal("1 TiB", as: ["corrupt"])
        try probe.restore()
    }

    /// Appends zeros or random bytes.
    private func lengthen(by count: Int, filling: UInt8) throws {
        let file = open(probe.path, O_WRONLY | O_APPEND | O_CLOEXEC)
        defer { close(file) }
        if filling == 0 {
            try #require(ftruncate(file, Int(lseek(file, 0, SEEK_END)) + count) == 0)
            return
        }
        let block = SecureRandom.bytes(count: 1 << 20)
        for _ in 0..<count >> 20 { try #require(write(file, block, block.count) == block.count) }
    }

    @Test func specialFilesAreNotOpened() throws {
        let path = probe.path
        unlink(path)
        try #require(mkdir(path, 0o700) == 0)
        try probe.expectRefusal("a directory", as: ["unsafeFile"])
        rmdir(path)
        try #require(mkfifo(path, 0o600) == 0)
        try probe.expectRefusal("a FIFO", as: ["unsafeFile"])
        unlink(path)
        let other = probe.fixture.directory.path("other")
        try SystemFile.write(other, probe.good)
        for target in [other, "nothing", "vault", "/dev/zero"] {
            try #require(symlink(target, path) == 0)
            try probe.expectRefusal("a link to \(target)", as: ["unsafeFile"])
            unlink(path)
        }
        try probe.restore()
    }

    @Test(.enabled(if: geteuid() == 0, "only root makes devices"), arguments: [S_IFCHR, S_IFBLK])
    func aDeviceIsNotOpened(_ kind: mode_t) throws {
        unlink(probe.path)
        // The devices are a memory of zeros and a missing disk.
        let number: dev_t = kind == S_IFCHR ? 0x105 : 0xFE63
        try #require(mknod(probe.path, kind | 0o600, number) == 0)
        try probe.expectRefusal("a device", as: ["unsafeFile", "file"])
        try probe.restore()
    }

    /// Only a holder of the keys can write this generation. The next opening must not fail in another way.
    @Test func theLastGenerationIsNotCountedOn() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        var draft = try VaultDraft(
            vault.current(), root: vault.keys.service, person: nil, slotID: nil, place: fixture.place)
        draft.service.generation = CompartmentHead.maximumGeneration - 1
        let file = try draft.file(.service)
        #expect(code { () throws(VaultError) in _ = try draft.file(.service) } == .tooLarge)
        try SystemFile.write(fixture.path, file)
        let child = try ChildProcess.run(
            "sealed-probe", ["vault-change", fixture.directory.path, fixture.group.identifier, "add", "a", "1"],
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(child.status == .exited(1), "\(child)")
        #expect(["rolledBack\n", "corrupt\n", "tooLarge\n"].contains(child.outputText), "\(child.outputText)")
        #expect(try SystemFile.read(fixture.path) == file)
    }
}
