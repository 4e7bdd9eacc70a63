import AppGroups
import PropertyLists
import Testing

@Suite struct EntitlementsTests {
    private static let team = try? TeamIdentifier("ABCDE12345")

    private static func document(
        _ groups: [String], keychain: [String] = [], _ others: [String: PropertyListValue] = [:]
    ) throws -> EntitlementsDocument {
        var values = others
        values["com.apple.security.application-groups"] = .array(groups.map { .string($0) })
        values["keychain-access-groups"] = .array(keychain.map { .string($0) })
        return try EntitlementsDocument(.dictionary(values))
    }

    @Test func settingsAreExpandedAndIdentifiersChecked() throws {
        let entitlements = try Entitlements(
            Self.document(
                ["group.com.example.app", "$(TeamIdentifierPrefix)shared"],
                keychain: ["$(AppIdentifierPrefix)com.example.keys"],
                ["application-identifier": .string("$(AppIdentifierPrefix)$(CFBundleIdentifier)")]),
            variables: EntitlementVariables(teamIdentifier: Self.team, bundleIdentifier: "com.example.app"))
        #expect(entitlements.applicationGroups.map(\.identifier) == ["group.com.example.app", "ABCDE12345.shared"])
        #expect(entitlements.accessGroups.map(\.identifier) == ["ABCDE12345.com.example.keys"])
        #expect(entitlements.applicationIdentifier == "ABCDE12345.com.example.app")
    }

    @Test func duplicatesAreDropped() throws {
        let entitlements = try Entitlements(
            Self.document(["group.b", "group.a", "group.b"], keychain: ["ABCDE12345.x", "ABCDE12345.x"]))
        #expect(entitlements.applicationGroups.map(\.identifier) == ["group.b", "group.a"])
        #expect(entitlements.accessGroups.count == 1)
    }

    @Test func aFilesOwnTeamGivesThePrefixes() throws {
        let entitlements = try Entitlements(
            Self.document(
                ["$(TeamIdentifierPrefix)x"], keychain: ["$(AppIdentifierPrefix)$(CFBundleIdentifier)"],
                [
                    "com.apple.developer.team-identifier": .string("ABCDE12345"),
                    "application-identifier": .string("ABCDE12345.com.example.app"),
                ]))
        #expect(entitlements.applicationGroups.map(\.identifier) == ["ABCDE12345.x"])
        #expect(entitlements.accessGroups.map(\.identifier) == ["ABCDE12345.com.example.app"])
    }

    @Test func givenValuesWinOverTheFilesOwn() throws {
        let entitlements = try Entitlements(
            Self.document(
                ["$(TeamIdentifierPrefix)x"], ["com.apple.developer.team-identifier": .string("ZYXWV98765")]),
            variables: EntitlementVariables(teamIdentifier: Self.team, bundleIdentifier: nil))
        #expect(entitlements.applicationGroups.map(\.identifier) == ["ABCDE12345.x"])
    }

    @Test func oneErrorListsEveryIdentifierWithoutAValue() throws {
        let document = try Self.document(
            ["group.fine", "$(TeamIdentifierPrefix)a"], keychain: ["$(AppIdentifierPrefix)b", "$(OTHER)"])
        let error = #expect(throws: AppGroupError.self) { try Entitlements(document) }
        #expect(error?.code == .unresolvedVariable)
        for name in ["TeamIdentifierPrefix", "AppIdentifierPrefix", "OTHER"] {
            #expect(error?.reason.contains(name) == true)
        }
        #expect(error?.reason.contains("group.fine") == false)
    }

    @Test(arguments: [
        (["group.a b"], []), (["com.example.app"], []), (["ABCDE12345.*"], []), ([], ["com.example.app"]),
        ([], ["ABCDE12345.*.x"]), ([], ["*"]), ([], ["group.*"]), ([""], []),
        (["group.good", "Group.bad"], ["$(AppIdentifierPrefix)x"]),
    ])
    func aMalformedIdentifierIsRefused(groups: [String], keychain: [String]) throws {
        let document = try Self.document(groups, keychain: keychain)
        let error = #expect(throws: AppGroupError.self) { try Entitlements(document) }
        #expect(error?.code == .malformedEntitlements)
    }

    @Test(arguments: [
        ["application-identifier": PropertyListValue.string("nothing")],
        ["com.apple.developer.team-identifier": .string("TEAM")],
    ])
    func aMalformedOwnIdentifierIsRefused(values: [String: PropertyListValue]) throws {
        let document = try Self.document([], values)
        let error = #expect(throws: AppGroupError.self) { try Entitlements(document) }
        #expect(error?.code == .malformedEntitlements)
    }

    @Test func anErrorStaysShortWhateverTheFileHolds() throws {
        let document = try Self.document((0..<5000).map { "bad \($0) " + String(repeating: "x", count: 200) })
        let error = #expect(throws: AppGroupError.self) { try Entitlements(document) }
        #expect(error.map { $0.description.utf8.count < 10_000 } == true)
        #expect(error?.reason.contains("4980 more") == true)
    }
}

// Which groups are held.
@Suite struct HeldGroupsTests {
    private static let entitlements = try? Entitlements(
        EntitlementsDocument(
            .dictionary([
                "com.apple.security.application-groups": .array([
                    .string("group.com.example.app"), .string("ABCDE12345.mac"),
                ]),
                "keychain-access-groups": .array([.string("ABCDE12345.keys"), .string("ZYXWV98765.com.example.*")]),
                "application-identifier": .string("ABCDE12345.com.example.app"),
            ])))

    @Test(arguments: [
        ("group.com.example.app", true), ("ABCDE12345.mac", true), ("group.com.example.App", false),
        ("group.com.example", false), ("group.com.example.app.more", false), ("ABCDE12345.keys", false),
        ("ABCDE12345.com.example.app", false),
    ])
    func anAppGroupIsHeldByItsWholeName(identifier: String, isHeld: Bool) throws {
        let entitlements = try #require(Self.entitlements)
        #expect(try entitlements.holds(AppGroup(identifier)) == isHeld)
    }

    @Test(arguments: [
        ("ABCDE12345.keys", true), ("ABCDE12345.com.example.app", true), ("group.com.example.app", true),
        ("ABCDE12345.mac", true), ("ZYXWV98765.com.example.any.thing", true), ("ZYXWV98765.com.example", false),
        ("ZYXWV98765.com.examples.x", false), ("ABCDE12345.group.com.example.app", false), ("ABCDE12345.key", false),
    ])
    func anAccessGroupIsHeldInFourWays(identifier: String, isHeld: Bool) throws {
        let entitlements = try #require(Self.entitlements)
        #expect(try entitlements.holds(AccessGroup(identifier)) == isHeld)
    }

    @Test func accessGroupsComeInTheKeychainsOrder() throws {
        let entitlements = try #require(Self.entitlements)
        #expect(
            entitlements.allAccessGroups.map(\.identifier) == [
                "ABCDE12345.keys", "ABCDE12345.com.example.app", "group.com.example.app", "ABCDE12345.mac",
            ])
        #expect(entitlements.defaultAccessGroup?.identifier == "ABCDE12345.keys")
    }

    @Test func anAppGroupIsNeverTheDefault() throws {
        let group = try AppGroup("group.x")
        #expect(Entitlements(applicationGroups: [group]).defaultAccessGroup == nil)
        let own = Entitlements(applicationGroups: [group], applicationIdentifier: "ABCDE12345.own")
        #expect(own.defaultAccessGroup?.identifier == "ABCDE12345.own")
    }

    @Test func aWildcardOfAProgramIsNoGroup() throws {
        let entitlements = Entitlements(applicationGroups: [], applicationIdentifier: "ABCDE12345.*")
        #expect(entitlements.allAccessGroups.isEmpty)
        #expect(try !entitlements.holds(AccessGroup("ABCDE12345.x")))
    }
}
