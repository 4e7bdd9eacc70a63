/// Identifiers of groups that break the grammar, each in one way.
enum HostileIdentifiers {
    static var cases: [HostileCase] {
        let groups = short.map { text in HostileCase(.group, "group \(text.debugDescription)") { Array(text.utf8) } }
        let accessGroups = short.filter { !$0.hasPrefix("com.") }.prefix(20).map { text in
            HostileCase(.accessGroup, "access group \(text.debugDescription)") { Array(text.utf8) }
        }
        return groups + accessGroups + long
    }

    private static let short: [String] = [
        "", ".", "..", "group", "group.", "group..", "group..a", "group.a.", "group.a..b", ".group.a", " group.a",
        "group.a ", "group.a b",
        "group.a/b", "group.../a", "../group.a", "group.a\\b", "group.a\u{0}b", "group.a\n", "group.\u{1B}[2J",
        "group.é", "group.a\u{301}",
        "group.\u{202E}a", "gr\u{43E}up.a", "ABCDE12345", "ABCDE12345.", "ABCDE12345..a", "group.*", "group.a*", "*",
        "$(TeamIdentifierPrefix)group.a", "group.a:b", "group.a;b", "group.a,b", "group.a@b", "group.a%b", "group.a'b",
        "group.a\"b",
        "group.a&b", "group.a|b", "group.a?b", "group.a#b", "group.a=b", "group.a$b", "group.a<b", "group.a>b",
        "group.a{b", "group.a`b",
        "com.example.app", "com.example.group.a",
    ]

    private static var long: [HostileCase] {
        [
            HostileCase(.group, "group of 201 bytes") { Array(("group." + "a".row(195)).utf8) },
            HostileCase(.group, "group of 1 MiB") { Array(("group." + "a".row(1 << 20)).utf8) },
            HostileCase(.group, "group of dots") { Array(("group" + ".".row(1 << 20)).utf8) },
            HostileCase(.group, "group of combining marks") { Array(("group.e" + "\u{301}\u{316}".row(200_000)).utf8) },
            HostileCase(.group, "group of slashes") { Array("../".row(300_000).utf8) },
            HostileCase(.accessGroup, "access group of 1 MiB") { Array(("ABCDE12345." + "a".row(1 << 20)).utf8) },
        ]
    }
}
