/// Invalid XML and OpenStep property lists, and lists that demand too many resources.
enum HostileTextLists {
    static var cases: [HostileCase] {
        named("xml", bodies.map { head + $0 + "</plist>" }) + named("xml document", documents)
            + named("openstep", openStep) + large
    }

    private static func named(_ kind: String, _ texts: [String]) -> [HostileCase] {
        texts.map { text in
            let shown = text.hasPrefix(head) ? String(text.dropFirst(head.count)) : text
            return HostileCase(.propertyList, "\(kind): \(String(shown.prefix(60)).debugDescription)") {
                Array(text.utf8)
            }
        }
    }

    private static let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\">"

    private static let bodies: [String] = [
        "", "<true/><true/>", "<string>", "<dict>", "</dict>", "<dict></array>", "<dict><true/></dict>",
        "<dict><key>a</key></dict>",
        "<dict><key>a</key><key>b</key></dict>", "<array><key>a</key></array>", "<key>a</key>",
        "<plist><true/></plist>", "<html/>", "<String>a</String>",
        "<string a=\"b\">c</string>", "<string><b/></string>", "<string>&</string>", "<string>&#0;</string>",
        "<string>&#xD800;</string>",
        "<string>&#x110000;</string>", "<string>&lol;</string>", "<string>a\u{1}</string>", "<string>\u{FFFF}</string>",
        "<string><![CDATA[a</string>",
        "<!-- a", "<integer/>", "<integer>1.5</integer>", "<integer>0x</integer>",
        "<integer>99999999999999999999</integer>",
        "<integer>-9223372036854775809</integer>", "<real>0x10</real>", "<real>1,5</real>", "<real/>",
        "<date>2001-13-01T00:00:00Z</date>",
        "<date>2001-01-01</date>", "<date>-001-01-01T00:00:00Z</date>", "<data>Q</data>", "<data>Q===</data>",
        "<data>QUI*</data>", "x<true/>",
        "<dict><key>a</key><true/><key>a</key><true/></dict>",
        "<dict><key>\u{E9}</key><true/><key>e\u{301}</key><true/></dict>", "<true>x</true>",
    ]

    private static let documents: [String] = [
        "<?xml version=\"1.0\"", "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
        "<!DOCTYPE plist [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\"><!ENTITY c \"&b;&b;\">]><plist><string>&c;</string></plist>",
        "<!DOCTYPE plist SYSTEM \"file:///etc/passwd\"><plist><true/></plist>", "<!DOCTYPE html><plist><true/></plist>",
        "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"x\" [<!ENTITY a SYSTEM \"/etc/passwd\">]><plist><string>&a;</string></plist>",
        "<?xml version=\"1.0\" encoding=\"UTF-7\"?><plist><true/></plist>", "<plist version=\"2.0\"><true/></plist>",
        "<plist><true/></plist>x",
        "<plist><true/></plist>\u{0}", "<plist>",
    ]

    private static let openStep: [String] = [
        "{", "(", "{a", "{a=", "{a=b", "{a=b}", "{a=b;}}", "(a b)", "(a,,b)", "a b", "a = b", "{=b;}", "{a=;}", "\"a",
        "\"a\\", "/* a", "// only", "<0a0>", "<0g>",
        "\"\\400\"", "\"\\Ud83d\"", "\"\\Ude00\"", "\"\\U\"", "{a=@x;}", "{a=b; a=c;}", "{a=<*I5>;}", "{a=\"\u{1}\";}",
        "[a]",
    ]

    private static var large: [HostileCase] {
        let texts: [(String, () -> String)] = [
            ("xml of 100,000 arrays", { head + "<array>".row(100_000) }),
            ("xml of 50,000 dictionaries", { head + "<dict><key>a</key>".row(50_000) }),
            ("xml of 300,000 values", { head + "<array>" + "<true/>".row(300_000) + "</array></plist>" }),
            ("xml of 100,000 comments", { head + "<!---->".row(100_000) }),
            ("xml of 100,000 beginnings of comments", { head + "<!--".row(100_000) }),
            ("xml of 100,000 sections", { head + "<string>" + "<![CDATA[]]>".row(100_000) }),
            ("xml of 100,000 references", { head + "<string>" + "&amp;".row(100_000) }),
            ("xml of 1 MiB of one reference", { head + "<string>&" + "a".row(1 << 20) }),
            ("xml integer of 1 MiB", { head + "<integer>" + "1".row(1 << 20) + "</integer></plist>" }),
            ("xml real of 1 MiB", { head + "<real>1." + "1".row(1 << 20) + "</real></plist>" }),
            ("xml name of 1 MiB", { head + "<" + "a".row(1 << 20) }),
            ("xml key of 1 MiB", { head + "<dict><key>" + "a".row(1 << 20) + "</key><true/></dict></plist>" }),
            ("xml of combining marks", { head + "<string>e" + "\u{301}\u{316}".row(100_000) + "</string></plist>" }),
            ("xml behind 1 MiB of white space", { " ".row(1 << 20) + "<plist>" }),
            ("openstep of 100,000 arrays", { "(".row(100_000) }),
            ("openstep of 50,000 dictionaries", { "{a=".row(50_000) }),
            ("openstep of 300,000 values", { "(" + "a,".row(300_000) + ")" }),
            ("openstep key of 1 MiB", { "{" + "a".row(1 << 20) + "=b;}" }),
            ("openstep of 1 MiB of comments", { "/**/".row(1 << 18) }),
            ("openstep of 1 MiB of quotes", { "(" + "\"\",".row(350_000) + ")" }),
            ("openstep bytes of 1 MiB", { "<" + "0".row((1 << 20) + 1) + ">" }),
        ]
        return texts.map { name, text in HostileCase(.propertyList, name) { Array(text().utf8) } } + [
            HostileCase(.propertyList, "xml that is no UTF-8") {
                Array("<plist><string>".utf8) + [0xC0, 0x80] + Array("</string></plist>".utf8)
            },
            HostileCase(.propertyList, "half a unit of UTF-16") { [0xFE, 0xFF, 0x00] },
            HostileCase(.propertyList, "nothing") { [] },
            HostileCase(.propertyList, "a megabyte of zeros") { [UInt8](repeating: 0, count: 1 << 20) },
        ]
    }
}
