import AppGroups
import PropertyLists
import Testing

@testable import XcodeEntitlements

@Suite struct ProfileSignatureTests {
    private func signature(_ name: String, trusting trust: ProfileTrust? = nil) throws -> ProfileSignature {
        try ProvisioningProfile(
            parsing: ProfileFixture.bytes(name), trusting: try trust ?? ProfileFixture.trust()
        ).signature
    }

    @Test(.enabled(if: !ProfileSignature.isCheckable), arguments: ["development", "strangers", "early"])
    func withoutTheTraitNoFileIsRead(_ name: String) throws {
        #expect(try signature("\(name).mobileprovision") == .notChecked)
    }

    #if ProfileSignatures
    private func isRefused(_ signature: ProfileSignature) -> Bool {
        if case .refused = signature { true } else { false }
    }

    @Test(arguments: [
        ("development.mobileprovision", "SHA-256"), ("ber.mobileprovision", "SHA-256"),
        ("sha1.mobileprovision", "SHA-1"),
        ("sha512.mobileprovision", "SHA-512"), ("curve.mobileprovision", "SHA-256"),
        ("key-identifier.mobileprovision", "SHA-256"), ("no-attributes.mobileprovision", "SHA-256"),
    ])
    func aSignatureOfTheRightSignerCounts(_ name: String, _ digest: String) throws {
        #expect(try signature(name) == .valid(signer: "Example Profile Signing", digest: digest))
    }

    @Test(arguments: ["mac.provisionprofile", "developer-id.provisionprofile"])
    func signersForMacsAreKnownByTheirMarks(_ name: String) throws {
        #expect(try signature(name) == .valid(signer: "Example Mac Profile Signing", digest: "SHA-256"))
    }

    /// An expired profile is still signed.
    @Test func theSignatureOutlivesTheProfile() throws {
        #expect(!isRefused(try signature("expired.mobileprovision")))
    }

    /// `Fixtures/profiles/README.md` lists the fault of each.
    @Test(arguments: [
        "strangers", "developer", "rootless", "early", "strict", "mute", "below", "impostor-authority",
        "impostor-signer", "two",
        "lay",  // words: the name of a profile
    ])
    func noOtherSignerIsAccepted(_ name: String) throws {
        #expect(isRefused(try signature("\(name).mobileprovision")))
    }

    @Test func nothingOfOursHangsOnApplesRoot() throws {
        #expect(isRefused(try signature("development.mobileprovision", trusting: .apple)))
        #expect(isRefused(try signature("mac.provisionprofile", trusting: .apple)))
    }

    @Test func theRootDecides() throws {
        let strangers = try ProfileFixture.trust("strangers-root")
        #expect(!isRefused(try signature("strangers.mobileprovision", trusting: strangers)))
        #expect(isRefused(try signature("development.mobileprovision", trusting: strangers)))
    }

    @Test func anotherNameOfSignerOrAuthorityDoesNotCount() throws {
        for change in [\ProfileTrust.deviceSigner, \.deviceAuthority] {
            var trust = try ProfileFixture.trust()
            trust[keyPath: change] = "Apple iPhone OS Provisioning Profile Signing"
            #expect(isRefused(try signature("development.mobileprovision", trusting: trust)))
        }
    }

    @Test(arguments: ["development", "no-attributes"]) func changedContentsDoNotCount(_ name: String) throws {
        var bytes = try ProfileFixture.bytes("\(name).mobileprovision")
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: "group.com.example.app".utf8) })
        bytes[place + 6] = UInt8(ascii: "k")
        let profile = try ProvisioningProfile(parsing: bytes, trusting: ProfileFixture.trust())
        #expect(profile.entitlements.applicationGroups?.first == "group.kom.example.app")
        #expect(isRefused(profile.signature))
        #expect(profile.problems(at: try ProfileFixture.date()).map(\.code).contains(.signatureRefused))
    }

    /// The last bytes are the signature itself.
    @Test func aChangedSignatureDoesNotCount() throws {
        var bytes = try ProfileFixture.bytes("development.mobileprovision")
        bytes[bytes.count - 1] ^= 1
        #expect(isRefused(try ProvisioningProfile(parsing: bytes, trusting: ProfileFixture.trust()).signature))
    }

    @Test func anUnknownSignatureIsRefusedAsWell() throws {
        let profile = try ProvisioningProfile(parsing: ProfileForge.profile(), trusting: ProfileFixture.trust())
        #expect(isRefused(profile.signature))
    }

    @Test func applesRootIsTheOneThatApplePublishes() {
        let fingerprint = "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"
        let roots = ProfileTrust.apple.roots.map { root in
            root.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        #expect(roots == [fingerprint])
    }
    #endif
}
