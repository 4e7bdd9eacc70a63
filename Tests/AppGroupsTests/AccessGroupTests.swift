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
