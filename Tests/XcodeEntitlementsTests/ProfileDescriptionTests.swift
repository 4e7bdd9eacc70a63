import PropertyLists
import Testing

@testable import XcodeEntitlements

@Suite struct ProfileDescriptionTests {
    private func values(_ profile: ProvisioningProfile, _ label: String) throws -> [String] {
        ProfileDescription(profile, at: try ProfileFixture.date()).lines.filter { $0.label == label }.map(\.value)
    }

    @Test func everythingThatPeopleLookForIsThere() throws {
        let profile = try ProfileFixture.profile("development.mobileprovision")
        #expect(try values(profile, "kind") == ["development"])
        #expect(try values(profile, "team") == ["ABCDE12345 (Beispiel Söhne)"])
        #expect(try values(profile, "app id") == ["ABCDE12345.com.example.app (Example App)"])
        #expect(try values(profile, "devices") == ["2 devices"])
        #expect(try values(profile, "app groups") == ["group.com.example.app, group.com.example.shared"])
        #expect(try values(profile, "certificate").count == 2)
        #expect(try values(profile, "created") == ["2026-06-01"])
        #expect(try values(profile, "key-value store") == [])
    }

    @Test func theExpiryShowsHowLongAgoItWas() throws {
        let over = try ProfileFixture.profile("expired.mobileprovision")
        #expect(try values(over, "expires") == ["2021-06-01, expired 1999 days ago"])
        #expect(try values(over, "certificate").first?.contains("not valid") == true)
        let current = try ProfileFixture.profile("app-store.mobileprovision")
        #expect(try values(current, "expires").first?.contains("in ") == true)
    }

    @Test func withoutTheTraitTheSignatureIsNotChecked() throws {
        let profile = try ProfileFixture.profile("app-store.mobileprovision")
        let isUnchecked = try values(profile, "signature") == ["signature not checked"]
        #expect(isUnchecked == !ProfileSignature.isCheckable)
    }

    @Test func aNameCannotDriveTheTerminal() throws {
        let profile = try ProvisioningProfile(
            parsing: ProfileForge.profile(["Name": .string("a\u{9B}31mb\u{202E}c")]))
        let lines = ProfileDescription(profile, at: try ProfileFixture.date()).lines
        #expect(lines.first?.value == "a\\u{9b}31mb\\u{202e}c")
    }
}
