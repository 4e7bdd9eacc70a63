import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Vault files that somebody made to harm: a typed error at little cost, and the file stays as it is.
@Suite(.timeLimit(.minutes(30))) struct HostileVaultFaultTests {
    let probe: VaultCostProbe
    let hostile: HostileVault

    init() throws {
        probe = try VaultCostProbe()
        hostile = HostileVault(probe.good)
    }

    @Test func numbersAtTheirLimitsAreRefused() throws {
        for forgery in hostile.forgeries { try probe.expectRefusal(of: forgery.bytes, forgery.name) }
        probe.report("numbers at their limits")
        try probe.restore()
    }

    @Test func everyTurnedBitIsRefusedWhateverTheChecksumSays() throws {
        // The short form turns one bit of each byte, another one in each.
        let bits = (0..<hostile.good.count * 8).filter { isLongForm || $0 % 8 == $0 / 8 % 8 }
        for bit in bits { try probe.expectRefusal(of: hostile.flipped(bit), "bit \(bit)") }
        probe.report("turned bits")
        try probe.restore()
    }

    @Test(
        arguments: [
            // 2^30 KiB are 1 TiB.
            (3, 1 << 30), (1, .max), (.max, 8192), (33, 8192), (0, 8192), (1, 0), (1, 8191), (1, 1 << 20 + 1),
        ] as [(UInt32, UInt32)])
    func passphraseCostsBeyondTheBoundsAreNeverSpent(_ passes: UInt32, _ memoryKiB: UInt32) throws {
        let bytes = try #require(try hostile.costs(passes: passes, memoryKiB: memoryKiB))
        let name = "\(passes) passes, \(memoryKiB) KiB"
        try probe.expectRefusal(of: bytes, name, withPassphrase: true, as: ["corrupt"])
        try probe.expectRefusal(of: bytes, name, as: ["corrupt"])
        probe.report(name)
    }

    @Test(arguments: [0, 1]) func whatIsHungOnAFileIsNotRead(_ filling: UInt8) throws {
        // Behind the header alone, behind what the code covers, and behind a whole vault.
        for size in [hostile.bodyOffset, hostile.bodyOffset + VaultHead.bodyHeaderSize, hostile.good.count] {
            try SystemFile.write(probe.fixture.path, Array(hostile.good[..<size]))
            try lengthen(to: size + 100 << 20, filling: filling)
            try probe.expectRefusal("100 MiB behind \(size) bytes", as: ["corrupt"])
        }
        // With the size of what follows the header mended.
        try SystemFile.write(probe.fixture.path, hostile.with(UInt32(176 + 100 << 20), at: 36))
        try lengthen(to: hostile.bodyOffset + 176 + 100 << 20, filling: filling)
        try probe.expectRefusal("100 MiB and their size", as: ["corrupt"])
        probe.report("100 MiB behind a good header")
        try SystemFile.write(probe.fixture.path, hostile.good)
        try lengthen(to: 1 << 40, filling: 0)
        try probe.expectRefusal("1 TiB", as: ["corrupt"])
        try probe.restore()
    }

    /// With zeros, or with random bytes.
    private func lengthen(to size: Int, filling: UInt8) throws {
        if filling == 0 {
            try #require(truncate(probe.fixture.path, size) == 0)
            return
        }
        let file = open(probe.fixture.path, O_WRONLY | O_APPEND | O_CLOEXEC)
        defer { close(file) }
        let block = SecureRandom.bytes(count: 1 << 20)
        for _ in 0..<100 { try #require(write(file, block, block.count) == block.count) }
    }

    @Test func whatIsNoFileIsNotOpened() throws {
        let path = probe.fixture.path
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
        unlink(probe.fixture.path)
        // Memory of zeros; a disk that is not there.
        let number: dev_t = kind == S_IFCHR ? 0x105 : 0xFE63
        try #require(mknod(probe.fixture.path, kind | 0o600, number) == 0)
        try probe.expectRefusal("a device", as: ["unsafeFile", "file"])
        try probe.restore()
    }

    /// Only who holds the keys can make it; whoever opens it next must not fall over it.
    @Test(arguments: [VaultHeader.maximumGeneration, .max])
    func theLastGenerationIsNotCountedOn(_ generation: UInt64) throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        let contents = try vault.current()
        let header = VaultHeader(
            purpose: .vault, vaultID: contents.head.header.vaultID, generation: generation,
            slots: contents.head.header.slots)
        let key = try VaultSealing.bodyKey(vault.keys.root)
        let description = BlobDescription(
            vault: VaultSealing.context(fixture.accessGroup), sequence: generation, sealedAt: 1)
        let body = contents.body.encoded.withRawBytes { BlobSealer.seal($0, as: description, key: key) }
        let file = header.file(with: body, root: vault.keys.root)
        try SystemFile.write(fixture.path, file)
        let child = try ChildProcess.run(
            "sealed-probe", ["vault-change", fixture.directory.path, fixture.group.identifier, "add", "a", "1"],
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(child.status == .exited(1), "\(child)")
        #expect(["rolledBack\n", "corrupt\n", "tooLarge\n"].contains(child.outputText), "\(child.outputText)")
        #expect(try SystemFile.read(fixture.path) == file)
    }
}
