import AppGroups
import Testing

/// An identifier that is refused as an app group and as an access group, with the code of its first fault.
struct RefusedIdentifier: Sendable, CustomTestStringConvertible {
    let identifier: String
    let code: AppGroupError.Code

    init(_ identifier: String, _ code: AppGroupError.Code) {
        self.identifier = identifier
        self.code = code
    }

    var testDescription: String { "\(identifier.prefix(40).debugDescription) as \(code)" }

    static let all = prefixes + teams + names + traversals + controls + characters + lengths

    private static let prefixes: [Self] = [
        Self("", .emptyIdentifier),
        Self("com.example.app", .missingPrefix),
        Self("Group.com.example.app", .missingPrefix),
        Self("GROUP.com.example.app", .missingPrefix),
        Self("groups.com.example.app", .missingPrefix),
        Self("group-x.com.example", .missingPrefix),
        Self("group_.x", .missingPrefix),
        Self("app", .missingPrefix),
        Self("-group.com.example", .missingPrefix),
        Self("iCloud.com.example.app", .missingPrefix),
    ]

    private static let teams: [Self] = [
        Self("TEAMID.com.example.app", .invalidTeamIdentifier),
        Self("ABCDE1234.com.example.app", .invalidTeamIdentifier),
        Self("ABCDE123456.com.example.app", .invalidTeamIdentifier),
        Self("abcde12345.com.example.app", .invalidTeamIdentifier),
        Self("ABCDe12345.com.example.app", .invalidTeamIdentifier),
        Self("ABCDE_2345.com.example.app", .missingPrefix),
        Self("TEAM", .invalidTeamIdentifier),
    ]

    private static let names: [Self] = [
        Self("group", .emptyName),
        Self("group.", .emptyName),
        Self("ABCDE12345", .emptyName),
        Self("ABCDE12345.", .emptyName),
        Self(".group.com.example", .emptyComponent),
        Self("group..com.example", .emptyComponent),
        Self("group.com..example", .emptyComponent),
        Self("group.com.example.", .emptyComponent),
        Self("group..", .emptyComponent),
        Self("ABCDE12345..x", .emptyComponent),
        Self("...", .emptyComponent),
        Self("group.-com.example", .invalidCharacter),
        Self("group.com-.example", .invalidCharacter),
        Self("group.com.example-", .invalidCharacter),
        Self("group.-", .invalidCharacter),
    ]

    private static let traversals: [Self] = [
        Self(".", .pathTraversal),
        Self("..", .pathTraversal),
        Self("../group.com.example", .pathTraversal),
        Self("group.com/../../etc/passwd", .pathTraversal),
        Self("/group.com.example", .pathTraversal),
        Self("group.com.example/", .pathTraversal),
        Self("group./", .pathTraversal),
        Self("group...\\..\\x", .pathTraversal),
        Self("ABCDE12345./x", .pathTraversal),
    ]

    private static let controls: [Self] = [
        Self("group.com.example\n", .controlCharacter),
        Self("\tgroup.com.example", .controlCharacter),
        Self("group.com\u{0}.example", .controlCharacter),
        Self("group.com\u{1B}[2J.example", .controlCharacter),
        Self("group.com.example\r\n", .controlCharacter),
        Self("group.com\u{7F}", .controlCharacter),
        Self("group.com\u{85}", .controlCharacter),
        Self("group.com\u{202E}moc", .controlCharacter),
        Self("group.com\u{200B}", .controlCharacter),
        Self("\u{FEFF}group.com", .controlCharacter),
        Self("group.com\u{2028}", .controlCharacter),
    ]

    private static let characters: [Self] = [
        Self(" group.com.example", .invalidCharacter),
        Self("group.com.example ", .invalidCharacter),
        Self("group.com example", .invalidCharacter),
        Self("group.com\u{A0}example", .invalidCharacter),
        Self(" ", .invalidCharacter),
        Self("group.caf\u{E9}", .invalidCharacter),
        Self("group.cafe\u{301}", .invalidCharacter),
        Self("group.c\u{43E}m", .invalidCharacter),
        Self("group.\u{1F510}", .invalidCharacter),
        Self("group.\u{E000}", .invalidCharacter),
        Self("group.com%2e%2e", .invalidCharacter),
        Self("group.*", .invalidCharacter),
        Self("ABCDE12345.*", .invalidCharacter),
        Self("group.com:example", .invalidCharacter),
        Self("group.com~", .invalidCharacter),
        Self("group.com;rm", .invalidCharacter),
        Self("$(TeamIdentifierPrefix)com.example", .invalidCharacter),
        Self("group.\"com\"", .invalidCharacter),
        Self("\u{FF47}roup.com", .invalidCharacter),
    ]

    private static let lengths: [Self] = [
        Self("group." + String(repeating: "a", count: 195), .tooLong),
        Self("ABCDE12345." + String(repeating: "a", count: 190), .tooLong),
        Self(String(repeating: ".", count: 201), .tooLong),
        Self("group." + String(repeating: "\u{E9}", count: 98), .tooLong),
        Self(String(repeating: "/", count: 1_000_000), .tooLong),
        Self("group." + String(repeating: "\u{E9}", count: 97), .invalidCharacter),
    ]
}
