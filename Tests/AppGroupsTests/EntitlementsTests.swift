import AppGroups
import PropertyLists
import SharedFiles
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
        (["group.good", "Group.bad"], ["$(AppIdentifierPrefix)x"]), (["com.apple.token"], []),
    ])
    func aMalformedIdentifierIsRefused(groups: [String], keychain: [String]) throws {
        let document = try Self.document(groups, keychain: keychain)
        let error = #expect(throws: AppGroupError.self) { try Entitlements(document) }
        #expect(error?.code == .malformedEntitlements)
    }

    @Test(arguments: [
        ["application-identifier": PropertyListValue.string("nothing")],
        ["application-identifier": .string("group.com.example.app")],
        ["com.apple.application-identifier": .string("group.com.example.app")],
        ["com.apple.developer.team-identifier": .string("TEAM")],
    ])
    func aMalformedOwnIdentifierIsRefused(values: [String: PropertyListValue]) throws {
        let document = try Self.document([], values)
        let error = #expect(throws: AppGroupError.self) { try Entitlements(document) }
        #expect(error?.code == .malformedEntitlements)
    }

    @Test func anErrorStaysShortRegardlessOfTheContents() throws {
        let document = try Self.document((0..<5000).map { "bad \($0) " + String(repeating: "x", count: 200) })
        let error = #expect(throws: AppGroupError.self) { try Entitlements(document) }
        #expect(error.map { $0.description.utf8.count < 10_000 } == true)
        #expect(error?.reason.contains("4980 more") == true)
    }

    @Test func anAppGroupAmongTheKeychainsGroupsIsRefusedWithItsPlace() throws {
        let document = try Self.document(["group.a"], keychain: ["ABCDE12345.group.a", "group.a"])
        let error = #expect(throws: AppGroupError.self) { try Entitlements(document) }
        #expect(error?.code == .malformedEntitlements)
        #expect(error?.reason.contains("com.apple.security.application-groups") == true)
        #expect(error?.reason.contains("ABCDE12345") == false)
    }

    @Test func theGroupOfSmartCardsIsPassedOver() throws {
        let entitlements = try Entitlements(Self.document([], keychain: ["ABCDE12345.*", "com.apple.token"]))
        #expect(entitlements.accessGroups.isEmpty)
        #expect(entitlements.accessGroupPatterns.map(\.pattern) == ["ABCDE12345.*"])
    }
}

// Identifiers of the file itself.
extension EntitlementsTests {
    private static func own(_ identifier: String, team: String? = nil) -> [String: PropertyListValue] {
        var values = ["application-identifier": PropertyListValue.string(identifier)]
        if let team { values["com.apple.developer.team-identifier"] = .string(team) }
        return values
    }

    @Test func anOldAccountsPrefixIsThatOfItsApplicationIdentifier() throws {
        let entitlements = try Entitlements(
            Self.document(
                ["$(TeamIdentifierPrefix)x"], keychain: ["$(AppIdentifierPrefix)keys"],
                Self.own("ZYXWV98765.com.example.app", team: "ABCDE12345")))
        #expect(entitlements.applicationGroups.map(\.identifier) == ["ABCDE12345.x"])
        #expect(entitlements.accessGroups.map(\.identifier) == ["ZYXWV98765.keys"])
    }

    @Test func anApplicationIdentifierAloneGivesOneOfThePrefixes() throws {
        let own = Self.own("ABCDE12345.com.example.app")
        let document = try Self.document([], keychain: ["$(AppIdentifierPrefix)keys"], own)
        #expect(try Entitlements(document).accessGroups.map(\.identifier) == ["ABCDE12345.keys"])
        let other = try Self.document(["$(TeamIdentifierPrefix)x"], own)
        let error = #expect(throws: AppGroupError.self) { try Entitlements(other) }
        #expect(error?.code == .unresolvedVariable)
    }

    /// Every reference to it would repeat it.
    @Test func anOwnIdentifierThatIsTooLongGivesNoSetting() throws {
        let long = Self.own("ABCDE12345." + String(repeating: "a", count: 190))
        let document = try Self.document(["group.$(CFBundleIdentifier)"], long)
        let error = #expect(throws: AppGroupError.self) { try Entitlements(document) }
        #expect(error?.code == .malformedEntitlements)
        #expect(error?.reason.hasPrefix("application-identifier") == true)
        #expect(error?.reason.contains("CFBundleIdentifier has no value") == true)
    }

    @Test(arguments: [(99, true), (101, false)])
    func referencesCountOverTheWholeFile(each: Int, isRead: Bool) throws {
        let references = String(repeating: "$(NOTHING)", count: each)
        let document = try Self.document((0..<100).map { "group.x\($0)\(references)" })
        let variables = EntitlementVariables(["NOTHING": ""])
        guard isRead else {
            let error = #expect(throws: AppGroupError.self) { try Entitlements(document, variables: variables) }
            #expect(error?.code == .unresolvedVariable)
            return
        }
        #expect(try Entitlements(document, variables: variables).applicationGroups.count == 100)
    }

    @Test func bytesCountOverTheWholeFile() throws {
        let variables = EntitlementVariables(["LONG": String(repeating: "x", count: 200_000)])
        let document = try Self.document((0..<10).map { "group.\($0)$(LONG)" })
        let error = #expect(throws: AppGroupError.self) { try Entitlements(document, variables: variables) }
        // The expansion of the third one is not finished.
        #expect(error?.reason.contains("and 7 more") == true)
    }
}

// Tests of the groups that entitlements contain.
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
        let listed = Entitlements(applicationGroups: [], accessGroups: [AccessGroup(group)])
        #expect(listed.defaultAccessGroup == nil)
    }

    @Test func anAppGroupIsNotHeldThroughTheApplicationIdentifier() throws {
        let entitlements = Entitlements(applicationGroups: [], applicationIdentifier: "group.x")
        #expect(entitlements.allAccessGroups.isEmpty)
        #expect(try !entitlements.holds(AccessGroup("group.x")))
    }

    @Test func aWildcardOfAProgramIsNotAGroup() throws {
        let entitlements = Entitlements(applicationGroups: [], applicationIdentifier: "ABCDE12345.*")
        #expect(entitlements.allAccessGroups.isEmpty)
        #expect(try !entitlements.holds(AccessGroup("ABCDE12345.x")))
    }
}
