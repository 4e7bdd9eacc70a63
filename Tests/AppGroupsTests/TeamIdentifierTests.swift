import AppGroups
import Testing

@Suite struct TeamIdentifierTests {
    @Test(arguments: ["ABCDE12345", "0123456789", "ABCDEFGHIJ"])
    func tenCapitalsAndDigitsAreATeam(identifier: String) throws {
        #expect(try TeamIdentifier(identifier).identifier == identifier)
        #expect(try "\(TeamIdentifier(identifier))" == identifier)
    }

    @Test(arguments: [
        "ABCDE1234", "ABCDE123456", "abcde12345", "ABCDE1234 ", "ABCDE-2345", "ABCDE1234\n", "ABCDE1234\u{C9}",
        "\u{FF21}BCDEFGHIJ",
        "ABCDE12345.", "group",
    ])
    func everythingElseIsRefused(identifier: String) {
        let error = #expect(throws: AppGroupError.self) { try TeamIdentifier(identifier) }
        #expect(error?.code == .invalidTeamIdentifier)
    }

    @Test func anEmptyTeamIsRefusedAsEmpty() {
        let error = #expect(throws: AppGroupError.self) { try TeamIdentifier("") }
        #expect(error?.code == .emptyIdentifier)
    }
}
