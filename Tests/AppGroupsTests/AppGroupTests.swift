import AppGroups
import FoundationEssentials
import SharedFiles
import Testing

@Suite struct AppGroupTests {
    @Test(arguments: [
        "group.a",
        "group.com.example.app",
        "group.com.example.my-app_2",
        "group.group.x",
        "group._",
        "group.Com.Example",
        "group.1.2.3",
        "group.a--b",
        "group.com.example.shared.vault",
        "group." + String(repeating: "a", count: 194),
    ])
    func aRegisteredIdentifierIsKeptAsItIs(identifier: String) throws {
        let group = try AppGroup(identifier)
        #expect(group.identifier == identifier)
        #expect(group.description == identifier)
        #expect(group.form == .registered)
        #expect(group.teamIdentifier == nil)
        #expect("group." + group.name == identifier)
    }

    @Test(arguments: [
        ("ABCDE12345.com.example.app", "ABCDE12345", "com.example.app"),
        ("0123456789.x", "0123456789", "x"),
        ("ABCDEFGHIJ.x_y-z", "ABCDEFGHIJ", "x_y-z"),
        ("A1B2C3D4E5.group.com.example.app", "A1B2C3D4E5", "group.com.example.app"),
        ("ABCDE12345." + String(repeating: "n", count: 189), "ABCDE12345", String(repeating: "n", count: 189)),
    ])
    func aTeamPrefixedIdentifierSplitsIntoTeamAndName(identifier: String, team: String, name: String) throws {
        let group = try AppGroup(identifier)
        #expect(group.identifier == identifier)
        #expect(group.form == .teamPrefixed)
        #expect(try group.teamIdentifier == TeamIdentifier(team))
        #expect(group.name == name)
    }

    @Test func theLongestIdentifierLeavesRoomForAffixesInAFileName() throws {
        let longest = "group." + String(repeating: "a", count: AppGroup.maximumLength - 6)
        #expect(try AppGroup(longest).identifier == longest)
        #expect(AppGroup.maximumLength <= 255 - 55)
    }

    @Test func identifiersDifferByCase() throws {
        #expect(try AppGroup("group.a") != AppGroup("group.A"))
        #expect(try AppGroup("group.a") == AppGroup("group.a"))
        #expect(try Set([AppGroup("group.a"), AppGroup("group.A"), AppGroup("group.a")]).count == 2)
    }

    @Test(arguments: RefusedIdentifier.all)
    func aBadIdentifierIsRefusedForItsFirstFault(refused: RefusedIdentifier) {
        let error = #expect(throws: AppGroupError.self) { try AppGroup(refused.identifier) }
        #expect(error?.code == refused.code)
    }

    @Test(arguments: RefusedIdentifier.all)
    func everyRefusalSaysWhyAndShowsAnIdentifierThatPasses(refused: RefusedIdentifier) throws {
        let error = try #require(throws: AppGroupError.self) { try AppGroup(refused.identifier) }
        #expect(!error.reason.isEmpty)
        #expect(error.errno == nil)
        let example = try #require(error.advice.split(separator: " ").last)
        #expect(throws: Never.self) { try AppGroup(String(example.dropLast())) }
    }

    @Test(arguments: RefusedIdentifier.all)
    func noRefusalPrintsWhatATerminalWouldActOn(refused: RefusedIdentifier) throws {
        let error = try #require(throws: AppGroupError.self) { try AppGroup(refused.identifier) }
        let isPlain = error.description.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        #expect(isPlain, "\(error.description.debugDescription)")
        #expect(error.description.utf8.count < 1200)
    }

    @Test(arguments: ["group.com.example.app", "ABCDE12345.x"])
    func anIdentifierSurvivesCoding(identifier: String) throws {
        let group = try AppGroup(identifier)
        let data = try JSONEncoder().encode([group])
        #expect(String(decoding: data, as: UTF8.self) == "[\"\(identifier)\"]")
        #expect(try JSONDecoder().decode([AppGroup].self, from: data) == [group])
    }

    @Test(arguments: RefusedIdentifier.all)
    func decodingRefusesWhatTheInitialiserRefuses(refused: RefusedIdentifier) throws {
        let data = try JSONEncoder().encode([refused.identifier])
        let error = try #require(throws: DecodingError.self) { try JSONDecoder().decode([AppGroup].self, from: data) }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("another decoding error: \(error)")
            return
        }
        #expect((context.underlyingError as? AppGroupError)?.code == refused.code)
        #expect(context.codingPath.first?.intValue == 0)
    }

    @Test func decodingSomethingElseThanAStringIsATypeMismatch() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([AppGroup].self, from: [UInt8]("[7]".utf8).data)
        }
    }
}

extension [UInt8] {
    fileprivate var data: Data { Data(self) }
}
