import AppGroups
import Testing

@Suite struct AccessGroupTests {
    @Test(arguments: ["ABCDE12345.com.example.app", "ABCDE12345.group.com.example.app", "group.com.example.app"])
    func bothFormsAreAccessGroups(identifier: String) throws {
        #expect(try AccessGroup(identifier).identifier == identifier)
        #expect(try AccessGroup(identifier).description == identifier)
    }

    @Test(arguments: ["group.com.example.app", "ABCDE12345.x"])
    func everyAppGroupIsTheAccessGroupOfItsName(identifier: String) throws {
        #expect(try AccessGroup(AppGroup(identifier)) == AccessGroup(identifier))
    }

    @Test func theTeamMakesADifferentAccessGroup() throws {
        #expect(try AccessGroup("ABCDE12345.group.com.example.app") != AccessGroup("group.com.example.app"))
    }

    @Test(arguments: RefusedIdentifier.all)
    func aBadIdentifierIsRefusedForItsFirstFault(refused: RefusedIdentifier) {
        let error = #expect(throws: AppGroupError.self) { try AccessGroup(refused.identifier) }
        #expect(error?.code == refused.code)
    }
}

// Its parts.
extension AccessGroupTests {
    @Test func anAccessGroupIsMadeOfATeamAndAName() throws {
        let group = try AccessGroup(teamIdentifier: TeamIdentifier("ABCDE12345"), name: "com.example.app")
        #expect(group.identifier == "ABCDE12345.com.example.app")
        #expect(group.teamIdentifier?.identifier == "ABCDE12345")
        #expect(try AccessGroup("group.com.example.app").teamIdentifier == nil)
    }

    @Test(arguments: [("", AppGroupError.Code.emptyName), (".x", .emptyComponent), ("x ", .invalidCharacter)])
    func aBadNameOfATeamsGroupIsRefused(name: String, code: AppGroupError.Code) throws {
        let team = try TeamIdentifier("ABCDE12345")
        #expect(throws: AppGroupError.self) { try AccessGroup(teamIdentifier: team, name: name) }
        let error = #expect(throws: AppGroupError.self) { try AppGroup(teamIdentifier: team, name: name) }
        #expect(error?.code == code)
    }

    @Test func anAppGroupIsMadeOfItsParts() throws {
        let team = try TeamIdentifier("ABCDE12345")
        #expect(try AppGroup(teamIdentifier: team, name: "shared").identifier == "ABCDE12345.shared")
        #expect(try AppGroup(registered: "com.example.app") == AppGroup("group.com.example.app"))
        #expect(throws: AppGroupError.self) { try AppGroup(registered: "") }
    }

    @Test func anAppGroupIsTheAccessGroupOfTheSameIdentifierOnly() throws {
        let group = try AppGroup("group.com.example.app")
        #expect(AccessGroup(group).isSame(as: group))
        #expect(try !AccessGroup("ABCDE12345.group.com.example.app").isSame(as: group))
    }

    @Test(arguments: [
        ("ABCDE12345.group.com.example.app", "group.com.example.app"), ("ABCDE12345.com.example.app", nil),
        ("group.com.example.app", nil), ("ABCDE12345.group", nil), ("ABCDE12345.ZYXWV98765.x", nil),
        ("group.ABCDE12345.group.x", nil),
    ])
    func aTeamBeforeAnAppGroupIsRecognised(identifier: String, meant: String?) throws {
        #expect(try AccessGroup(identifier).appGroupWithTeamPrefix?.identifier == meant)
    }
}
