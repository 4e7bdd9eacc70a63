import Glibc
import TestSupport
import Testing

@testable import KeyVault

/// Tests that a damaged vault is corrupt (or of an unknown version), remains as it is, and never leads to a second key.
@Suite struct VaultDamageFaultTests {
    private static let refusals: Set<VaultError.Code> = [.corrupt, .unsupported]

    private func expectRefusal(_ fixture: VaultFixture, _ bytes: [UInt8], _ what: String) throws {
        try SystemFile.write(fixture.path, bytes)
        let code = code { () throws(VaultError) in
            // An opening does not read the items.
            _ = try fixture.openOrCreate().items()
        }
        #expect(code.map(Self.refusals.contains) == true, "\(what): \(code?.rawValue ?? "opened")")
        #expect(try SystemFile.read(fixture.path) == bytes)
    }

    /// The short form flips another bit of each byte.
    private func bits(of bytes: [UInt8]) -> [Int] {
        (0..<bytes.count * 8).filter { isLongForm || $0 % 8 == $0 / 8 % 8 }
    }

    @Test func everyFlippedBitIsRefused() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        let good = try SystemFile.read(fixture.path)
        for bit in bits(of: good) {
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

    @Test func everyFlippedBitOfThePersonCompartmentIsRefusedForAPerson() throws {
        let fixture = try VaultFixture()
        let identity = try Identity.random()
        try fixture.create(with: .identity(identity)).add("s", "a", .whenUnlocked)
        let good = try SystemFile.read(fixture.personPath)
        for bit in bits(of: good) {
            var bad = good
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            try SystemFile.write(fixture.personPath, bad)
            let refusal = code { () throws(VaultError) in
                _ = try fixture.open(with: .identity(identity)).copyValue(service: "s", account: "a")
            }
            #expect(refusal.map(Self.refusals.contains) == true, "bit \(bit): \(refusal?.rawValue ?? "opened")")
            #expect(try SystemFile.read(fixture.personPath) == bad)
        }
        try SystemFile.write(fixture.personPath, good)
        #expect(try fixture.open(with: .identity(identity)).value("s", "a") == [1, 2, 3])
    }

    @Test func headAndPartsOfTwoVaultsDoNotMix() throws {
        // The same key file opens both, so only the binding of the parts to the head can refuse the mix.
        let fixture = try VaultFixture()
        let other = try VaultFixture()
        try fixture.create()
        try other.directory.directory("Keys")
        try SystemFile.write(other.keyFile, SystemFile.read(fixture.keyFile))
        try other.create()
        let (a, b) = (try SystemFile.read(fixture.path), try SystemFile.read(other.path))
        let parts = VaultBytes(a).parts
        try SystemFile.write(fixture.path, Array(a[..<parts] + b[VaultBytes(b).parts...]))
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .corrupt)
    }

    @Test func costsBeyondTheBoundsAreRefusedBeforeTheyAreSpent() throws {
        let fixture = try VaultFixture()
        try fixture.create(with: passphrase("one"))
        let good = VaultBytes(try SystemFile.read(fixture.personPath))
        // The fields after the salt are passes, then KiB.
        let costs = try #require(good.passphraseParameters) + 16
        for (passes, kib) in [(UInt32.max, UInt32(65_536)), (3, UInt32.max), (0, 65_536), (3, 0)] {
            var bad = good.bytes
            withUnsafeBytes(of: passes.littleEndian) { bad.replaceSubrange(costs..<costs + 4, with: $0) }
            withUnsafeBytes(of: kib.littleEndian) { bad.replaceSubrange(costs + 4..<costs + 8, with: $0) }
            let summed = good.repaired(bad)
            try SystemFile.write(fixture.personPath, summed)
            // The register lists other parameters, so the slot is skipped before any derivation.
            let credential = try passphrase("one")
            #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .wrongPassphrase)
            #expect(try SystemFile.read(fixture.personPath) == summed)
        }
    }

    @Test func anEmptyFileIsCorruptNotAbsent() throws {
        let fixture = try VaultFixture()
        try fixture.create()
        try expectRefusal(fixture, [], "empty")
    }
}
