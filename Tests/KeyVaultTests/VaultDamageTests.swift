import CryptoPrimitives
import Glibc
import KeyVault
import TestSupport
import Testing

/// A damaged vault is corrupt (or of a version nobody knows), is left as it is, and never leads to a second key.
@Suite struct VaultDamageTests {
    private static let refusals: Set<VaultError.Code> = [.corrupt, .unsupported]

    private func expectRefusal(_ fixture: VaultFixture, _ bytes: [UInt8], _ what: String) throws {
        try SystemFile.write(fixture.path, bytes)
        let code = code { () throws(VaultError) in _ = try fixture.openOrCreate() }
        #expect(code.map(Self.refusals.contains) == true, "\(what): \(code?.rawValue ?? "opened")")
        #expect(try SystemFile.read(fixture.path) == bytes)
    }

    @Test func everyFlippedBitIsRefused() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        let good = try SystemFile.read(fixture.path)
        for bit in 0..<good.count * 8 {
            var bad = good
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            try expectRefusal(fixture, bad, "bit \(bit)")
        }
        try SystemFile.write(fixture.path, good)
        #expect(throws: Never.self) { try fixture.open() }
    }

    @Test func everyTruncationAndOneMoreByteAreRefused() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        let good = try SystemFile.read(fixture.path)
        for size in 0..<good.count { try expectRefusal(fixture, Array(good[..<size]), "\(size) bytes") }
        try expectRefusal(fixture, good + [0], "one more byte")
    }

    @Test func headerAndBodyOfTwoVaultsDoNotMix() throws {
        // The same passphrase opens both, so only the binding of the parts to each other can refuse the mix.
        let fixture = try VaultFixture()
        let other = try VaultFixture()
        try fixture.create(with: passphrase("one"))
        try other.create(with: passphrase("one"))
        let (a, b) = (try SystemFile.read(fixture.path), try SystemFile.read(other.path))
        let bodySize = 176 + 8 + 104 + 16
        try SystemFile.write(fixture.path, Array(a.dropLast(bodySize) + b.suffix(bodySize)))
        let credential = try passphrase("one")
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .corrupt)
    }

    @Test func costsBeyondTheBoundsAreRefusedBeforeTheyAreSpent() throws {
        let fixture = try VaultFixture()
        try fixture.create(with: passphrase("one"))
        let good = try SystemFile.read(fixture.path)
        // Header 40, slot preamble and sizes 24, salt 16: then passes and KiB.
        let costs = 40 + 24 + 16
        for (passes, kib) in [(UInt32.max, UInt32(65_536)), (3, UInt32.max), (0, 65_536), (3, 0)] {
            var bad = good
            withUnsafeBytes(of: passes.littleEndian) { bad.replaceSubrange(costs..<costs + 4, with: $0) }
            withUnsafeBytes(of: kib.littleEndian) { bad.replaceSubrange(costs + 4..<costs + 8, with: $0) }
            let summed = try rechecksummed(bad)
            try SystemFile.write(fixture.path, summed)
            let credential = try passphrase("one")
            #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .corrupt)
            #expect(try SystemFile.read(fixture.path) == summed)
        }
    }

    /// Mends the public checksum, which anybody can compute, so that only the bounds are left to refuse the file.
    private func rechecksummed(_ file: [UInt8]) throws -> [UInt8] {
        let area = file[32..<36].reversed().reduce(0) { $0 << 8 | Int($1) }
        let end = 40 + area
        var file = file
        let sum = BLAKE2b.hash(
            Array(file[..<end]), personalization: Personalization("SealedState.vsm1"), count: 32)
        file.replaceSubrange(end..<end + 32, with: sum)
        return file
    }

    @Test func anEmptyFileIsCorruptNotAbsent() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        try expectRefusal(fixture, [], "empty")
    }
}
