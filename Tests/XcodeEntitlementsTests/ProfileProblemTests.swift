import PropertyLists
import Testing

@testable import XcodeEntitlements

@Suite struct ProfileProblemTests {
    private let team = "ABCDE12345"

    private func codes(
        _ name: String, at date: String = "2026-11-21T00:00:00Z", for target: ProfileTarget? = nil
    ) throws -> [ProfileProblem.Code] {
        try ProfileFixture.profile(name).problems(at: ProfileFixture.date(date), for: target).map(\.code)
    }

    @Test func aGoodProfileForItsTargetHasNone() throws {
        let target = ProfileTarget(
            bundleIdentifier: "com.example.app", teamIdentifier: team, applicationGroups: ["group.com.example.app"],
            keychainAccessGroups: ["ABCDE12345.com.example.shared"], allowsDebugging: false)
        #expect(try codes("app-store.mobileprovision", for: target) == [])
    }

    @Test func itIsExpiredFromItsLastSecondOn() throws {
        #expect(try codes("app-store.mobileprovision", at: "2069-06-01T11:59:59Z") == [])
        #expect(try codes("app-store.mobileprovision", at: "2069-06-01T12:00:00Z") == [.expired])
        #expect(try codes("app-store.mobileprovision", at: "2026-06-01T11:59:59Z") == [.notYetValid])
        #expect(try codes("app-store.mobileprovision", at: "2026-06-01T12:00:00Z") == [])
    }

    @Test func oneCertificateOfTwoIsAWarningAndTheLastOneAnEnd() throws {
        #expect(try codes("development.mobileprovision") == [.certificateExpired])
        #expect(try codes("expired.mobileprovision") == [.expired, .noValidCertificate])
    }

    @Test func anotherTeamIsNamed() throws {
        let problems = try ProfileFixture.profile("app-store.mobileprovision").problems(
            at: ProfileFixture.date(), for: ProfileTarget(teamIdentifier: "ZZZZZ99999"))
        #expect(problems.map(\.code) == [.wrongTeam])
        #expect(problems.first?.subject == "ZZZZZ99999")
    }

    @Test(arguments: [
        ("app-store.mobileprovision", "com.example.app", true),
        ("app-store.mobileprovision", "com.example.app.widget", false),
        ("app-store.mobileprovision", "com.example", false),
        ("ad-hoc.mobileprovision", "org.anything.at.all", true),
        ("enterprise.mobileprovision", "com.example.other", true),
        ("enterprise.mobileprovision", "com.other.app", false),
    ])
    func anAppMayBeCalledWhatTheProfileSays(_ name: String, _ bundle: String, _ isHeld: Bool) throws {
        let codes = try codes(name, for: ProfileTarget(bundleIdentifier: bundle))
        #expect(codes.contains(.wrongApplication) == !isHeld)
    }

    @Test func aGroupOnTheTargetAloneIsAbsent() throws {
        let target = ProfileTarget(applicationGroups: ["group.com.example.app", "group.com.example.other"])
        let problems = try ProfileFixture.profile("app-store.mobileprovision").problems(
            at: ProfileFixture.date(), for: target)
        #expect(problems.map(\.code) == [.groupAbsent])
        #expect(problems.first?.subject == "group.com.example.other")
    }

    @Test func aGroupThatDiffersInCaseIsAbsentAndTheOtherIsNamed() throws {
        let target = ProfileTarget(applicationGroups: ["group.com.Example.app"])
        let problem = try ProfileFixture.profile("app-store.mobileprovision").problems(
            at: ProfileFixture.date(), for: target
        ).first
        #expect(problem?.code == .groupAbsent)
        #expect(problem?.advice.contains("group.com.example.app") == true)
    }

    /// The macOS form needs no profile on a Mac, and is unknown on iOS.
    @Test(arguments: [
        ("mac.provisionprofile", "ABCDE12345.shared", true),
        ("developer-id.provisionprofile", "ABCDE12345.shared", true),
        ("developer-id.provisionprofile", "ZZZZZ99999.shared", false),
        ("developer-id.provisionprofile", "group.com.example.app", false),
        ("app-store.mobileprovision", "ABCDE12345.shared", false),
    ])
    func aGroupOfTheTeamNeedsNoProfileOnAMac(_ name: String, _ group: String, _ isHeld: Bool) throws {
        #expect(try ProfileFixture.profile(name).holds(applicationGroup: group) == isHeld)
    }

    @Test(arguments: [
        ("ABCDE12345.com.example.keys", true), ("com.apple.token", true), ("group.com.example.app", true),
        ("ZZZZZ99999.com.example.keys", false), ("com.example.keys", false), ("$(AppIdentifierPrefix)keys", false),
    ])
    func anAccessGroupHasTheTeamsPrefixOrIsAnAppGroup(_ group: String, _ isHeld: Bool) throws {
        let codes = try codes("app-store.mobileprovision", for: ProfileTarget(keychainAccessGroups: [group]))
        #expect(codes == (isHeld ? [] : [.accessGroupAbsent]))
    }

    @Test func aKeyValueStoreThatTheProfileLacksIsAbsent() throws {
        let target = ProfileTarget(keyValueStoreIdentifier: "ABCDE12345.com.example.app")
        #expect(try codes("app-store.mobileprovision", for: target) == [.keyValueStoreAbsent])
        let held = PropertyListValue.dictionary([
            "com.apple.developer.ubiquity-kvstore-identifier": .string("ABCDE12345.*")
        ])
        let profile = try ProvisioningProfile(parsing: ProfileForge.profile(["Entitlements": held]))
        #expect(profile.holds(keyValueStore: "ABCDE12345.com.example.app"))
        #expect(!profile.holds(keyValueStore: "ZZZZZ99999.com.example.app"))
    }

    @Test func namesFromAFileCannotDriveTheTerminalOrFillIt() throws {
        let groups = (0..<1000).map { PropertyListValue.string("group.\u{9B}31m.\($0)") }
        let held = PropertyListValue.dictionary(["com.apple.security.application-groups": .array(groups)])
        let profile = try ProvisioningProfile(parsing: ProfileForge.profile(["Entitlements": held]))
        let problems = profile.problems(
            at: try ProfileFixture.date(), for: ProfileTarget(applicationGroups: ["group.\u{202E}x"]))
        let problem = try #require(problems.first { $0.code == .groupAbsent })
        #expect(!problem.description.unicodeScalars.contains { ["\u{9B}", "\u{202E}"].contains($0) })
        #expect(problem.subject == "group.\u{202E}x")
        #expect(problem.description.utf8.count < 1000)
    }

    @Test func debuggingHasToBeAsTheTargetWantsIt() throws {
        #expect(
            try codes("app-store.mobileprovision", for: ProfileTarget(allowsDebugging: true)) == [.debuggingRefused])
        #expect(
            try codes("development.mobileprovision", for: ProfileTarget(allowsDebugging: false))
                == [.certificateExpired, .debuggingAllowed])
    }
}
