import AppGroups
import Testing

@Suite struct AccessGroupPatternTests {
    @Test(arguments: [
        ("ABCDE12345.*", "ABCDE12345.x", true), ("ABCDE12345.*", "ABCDE12345.x.y", true),
        ("ABCDE12345.*", "ABCDE12346.x", false), ("ABCDE12345.*", "group.x", false),
        ("ABCDE12345.com.*", "ABCDE12345.com.x", true), ("ABCDE12345.com.*", "ABCDE12345.com", false),
        ("ABCDE12345.com.*", "ABCDE12345.community", false), ("ABCDE12345.x", "ABCDE12345.x", true),
        ("ABCDE12345.x", "ABCDE12345.x.y", false), ("group.x", "group.x", true),
        ("group.x", "ABCDE12345.group.x", false),
    ])
    func aPatternMatchesWholeComponents(pattern: String, group: String, doesMatch: Bool) throws {
        #expect(try AccessGroupPattern(pattern).matches(AccessGroup(group)) == doesMatch)
    }

    @Test(arguments: [
        "*", ".*", "group.*", "group.com.*", "ABCDE12345*", "ABCDE12345.x*", "ABCDE12345.*.x", "ABCDE12345.**",
        "TEAM.*",
        "ABCDE12345..*", "", "ABCDE12345", "abcde12345.*",
    ])
    func anInvalidPatternIsRefused(text: String) {
        #expect(throws: AppGroupError.self) { try AccessGroupPattern(text) }
    }

    @Test func aGroupIsThePatternOfItself() throws {
        let group = try AccessGroup("ABCDE12345.x")
        #expect(AccessGroupPattern(group).matches(group))
        #expect(!AccessGroupPattern(group).isWildcard)
        #expect(try AccessGroupPattern("ABCDE12345.*").isWildcard)
        #expect(try AccessGroupPattern("ABCDE12345.*").description == "ABCDE12345.*")
    }
}
