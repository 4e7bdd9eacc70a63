import TestSupport
import Testing

@testable import XcodeEntitlements

/// Tests of damaged profiles: refused with an error of the library, or read; never a crash. 150 of each; 10,000 with
/// `SEALED_LONG=1` (`make fuzz`).
@Suite struct ProfileFuzzTests {
    private static let rounds: UInt64 = isLongForm ? 10_000 : 150

    @Test(arguments: [
        "development.mobileprovision", "ber.mobileprovision", "two.mobileprovision", "mac.provisionprofile",
    ])
    func damageIsRefusedOrHarmless(_ name: String) throws {
        let whole = try ProfileFixture.bytes(name)
        let trust = try ProfileFixture.trust()
        let content = try SignedMessage(parsing: whole).content
        for seed in 0..<Self.rounds {
            let bytes = Self.damaged(whole, seed: seed)
            do {
                let profile = try ProvisioningProfile(parsing: bytes, trusting: trust)
                guard case .valid = profile.signature else { continue }
                #expect(try SignedMessage(parsing: bytes).content.elementsEqual(content), "seed \(seed)")
            } catch {
                // The error is typed: no other type is possible.
                #expect(!error.description.isEmpty)
            }
        }
    }

    private static func damaged(_ whole: [UInt8], seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        var bytes = whole
        for _ in 0...Int.random(in: 0..<4, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = [0, 0x80, 0xFF, 0x30, 0x24].randomElement(using: &random) ?? 0
            case 2: bytes.remove(at: place)
            case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            default: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1..<40, using: &random)))
            }
            if bytes.isEmpty { return bytes }
        }
        return bytes
    }
}
