/// Property lists that are not valid entitlements.
enum HostileEntitlements {
    static var cases: [HostileCase] {
        documents.map { body in
            HostileCase(.entitlements, "entitlements: \(String(body.prefix(90)))") {
                Array("<plist version=\"1.0\">\(body)</plist>".utf8)
            }
        } + large
    }

    static var whole: [UInt8] {
        Array("<plist version=\"1.0\">\(entry(groups, list("group.com.example.app")))</plist>".utf8)
    }

    private static let groups = "com.apple.security.application-groups"
    private static let keychain = "keychain-access-groups"

    private static func entry(_ key: String, _ value: String) -> String { "<dict><key>\(key)</key>\(value)</dict>" }
    private static func list(_ text: String) -> String { "<array><string>\(text)</string></array>" }

    private static var documents: [String] {
        let wrongTypes = [
            "<true/>", "<integer>1</integer>", "<string>group.a</string>", "<dict/>", "<data/>",
            "<array><true/></array>", "<array><array/></array>",
        ]
        let wrongTexts = ["<true/>", "<integer>1</integer>", "<array/>", "<dict/>"]
        let wrongGroups = [
            "", ".", "group", "group.", "group..a", "com.example", "group.a/b", "group.a b", "../a", "$(", "$()",
            "$(Unknown)group.a", "${Unknown}",
            "$(A_$(B))", "group.&#233;", "*", "group.*",
        ]
        return ["<array/>", "<string>a</string>", "<true/>"]
            + wrongTypes.flatMap { [entry(groups, $0), entry(keychain, $0)] }
            + wrongTexts.flatMap {
                [
                    entry("application-identifier", $0), entry("com.apple.developer.team-identifier", $0),
                    entry("com.apple.developer.ubiquity-kvstore-identifier", $0),
                ]
            }
            + ["<string>YES</string>", "<integer>1</integer>", "<array/>"].map {
                entry("com.apple.security.app-sandbox", $0)
            }
            + wrongGroups.map { entry(groups, list($0)) }
            + ["", "com example", "a/b", "$(AppIdentifierPrefix)a", "*", "group.a"].map { entry(keychain, list($0)) }
            + ["<dict><key>\(groups)</key><array/><key>\(groups)</key><array/></dict>"]
    }

    private static var large: [HostileCase] {
        func text(_ name: String, _ body: @escaping () -> String) -> HostileCase {
            HostileCase(.entitlements, "entitlements: \(name)") { Array("<plist>\(body())</plist>".utf8) }
        }
        return [
            text("20,000 malformed groups") {
                entry(groups, "<array>" + "<string>.</string>".row(20_000) + "</array>")
            },
            text("variables nested 10,000 deep") { entry(groups, list("$(A".row(10_000) + ")".row(10_000))) },
            text("100,000 variables") { entry(groups, list("$(A)".row(100_000))) },
            text("variables without end") { entry(groups, list("$(".row(200_000))) },
            text("operators without end") { entry(groups, list("$(A" + ":lower".row(100_000) + ")")) },
            text("a long identifier of its own, 15,000 times") {
                let own = "<key>application-identifier</key><string>ABCDE12345." + "a".row(400_000) + "</string>"
                let groups = "<key>\(groups)</key><array>" + "<string>$(CFBundleIdentifier)</string>".row(15_000)
                return "<dict>\(own)\(groups)</array></dict>"
            },
            text("a group of 1 MiB") { entry(groups, list("group." + "a".row(1 << 20))) },
            HostileCase(.entitlements, "entitlements: a cycle") {
                BinaryListFile([[0xD1, 1, 0], [0x51, 0x61]]).bytes
            },
            HostileCase(.entitlements, "entitlements: a billion values") { BinaryListFile.doubling(30).bytes },
        ]
    }
}
