/// Provisioning profiles whose envelope, contents or certificates are wrong.
enum HostileProfiles {
    static var cases: [HostileCase] {
        cuts + (envelopes + contents).map { name, bytes in HostileCase(.profile, "profile: \(name)", bytes) }
    }

    private typealias Case = (String, () -> [UInt8])

    /// A signer that cannot be verified, because reading comes first.
    private static let signer = Der.sequence([])

    /// Returns a message from parts, each of which may be wrong.
    private static func message(
        _ list: [UInt8], contentType: [UInt8] = Der.data, type: [UInt8] = Der.signedData, certificates: [UInt8] = [],
        version: [UInt8] = [2, 1, 1], tail: [UInt8] = []
    ) -> [UInt8] {
        let inner = Der.sequence(contentType + Der.tagged(0, Der.octets(list)))
        let signed = Der.sequence(version + Der.set([]) + inner + certificates + Der.set(signer))
        return Der.sequence(type + Der.tagged(0, signed)) + tail
    }

    private static func list(_ body: String) -> [UInt8] { Array("<plist version=\"1.0\">\(body)</plist>".utf8) }

    /// Each key with a value of its type.
    private static let values: [(key: String, value: String)] = [
        ("Name", "<string>a</string>"), ("UUID", "<string>00000000-0000-0000-0000-000000000000</string>"),
        ("TeamIdentifier", "<array><string>ABCDE12345</string></array>"), ("TeamName", "<string>a</string>"),
        ("AppIDName", "<string>a</string>"),
        ("ApplicationIdentifierPrefix", "<array><string>ABCDE12345</string></array>"),
        ("CreationDate", "<date>2026-01-01T00:00:00Z</date>"), ("ExpirationDate", "<date>2027-01-01T00:00:00Z</date>"),
        ("TimeToLive", "<integer>365</integer>"), ("Platform", "<array><string>iOS</string></array>"),
        ("DeveloperCertificates", "<array/>"),
        ("Entitlements", "<dict><key>application-identifier</key><string>ABCDE12345.a</string></dict>"),
        ("Version", "<integer>1</integer>"),
    ]

    /// Returns the list with one value changed, or without the value.
    private static func list(_ key: String, _ value: String?) -> [UInt8] {
        let entries = values.compactMap { entry in
            (entry.key == key ? value : entry.value).map { "<key>\(entry.key)</key>\($0)" }
        }
        return list("<dict>" + entries.joined() + "</dict>")
    }

    static var whole: [UInt8] { message(list("", nil)) }

    private static var cuts: [HostileCase] {
        [0, 1, 2, 3, 5, 10, 20, 30, 50, 100, 500].map { count in
            HostileCase(.profile, "profile: cut after \(count) bytes") { Array(whole.prefix(count)) }
        } + [HostileCase(.profile, "profile: without its last byte") { whole.dropLast() }]
    }

    private static var envelopes: [Case] {
        [
            ("unsigned XML", { list("", nil) }), ("text", { Array("hello".utf8) }),
            ("zeros", { [UInt8](repeating: 0, count: 1 << 20) }),
            ("a length of 1 GiB", { [0x30, 0x84, 0x40, 0, 0, 0] }),
            ("a length of 2^64 - 1", { [0x30, 0x88] + [UInt8](repeating: 255, count: 8) }),
            ("a length of 127 bytes", { [0x30, 0xFF] + [UInt8](repeating: 1, count: 127) }),
            ("an octet string of 1 GiB", { claim }),
            ("100,000 open sequences", { [UInt8]((0..<100_000).flatMap { _ in [UInt8(0x30), 0x80] }) }),
            ("1,000 sequences", { (0..<1000).reduce([]) { inner, _ in Der.sequence(inner) } }),
            ("a million empty elements", { Der.sequence([UInt8]((0..<1_000_000).flatMap { _ in [UInt8(5), 0] })) }),
            ("10,000 pieces of contents", { pieces }),
            ("something behind its end", { message(list("", nil), tail: [0]) }),
            ("another kind of message", { message(list("", nil), type: Der.data) }),
            ("contents of another kind", { message(list("", nil), contentType: Der.signedData) }),
            (
                "no contents",
                {
                    Der.sequence(
                        Der.signedData
                            + Der.tagged(
                                0, Der.sequence([2, 1, 1] + Der.set([]) + Der.sequence(Der.data) + Der.set(signer))))
                }
            ),
            ("no version", { message(list("", nil), version: []) }),
            ("a version that is text", { message(list("", nil), version: [0x0C, 1, 0x61]) }),
            (
                "an invalid certificate",
                { message(list("", nil), certificates: Der.tagged(0, Der.sequence([5, 0]))) }
            ),
            ("an empty certificate", { message(list("", nil), certificates: Der.tagged(0, Der.sequence([]))) }),
            ("5 MiB", { [UInt8](repeating: 0x30, count: 5 << 20) }),
            ("an endless tag", { [0x3F] + [UInt8](repeating: 0xFF, count: 100_000) }),
            (
                "an endless object identifier",
                { message(list("", nil), type: Der.element(6, [UInt8](repeating: 0xFF, count: 100_000))) }
            ),
        ]
    }

    private static var claim: [UInt8] {
        let whole = message([])
        return Array(whole.dropLast(4)) + [0x24, 0x84, 0x40, 0, 0, 0]
    }

    private static var pieces: [UInt8] {
        let octets = Der.element(0x24, [UInt8]((0..<10_000).flatMap { _ in [UInt8(4), 1, 0x61] }))
        let inner = Der.sequence(Der.data + Der.tagged(0, octets))
        return Der.sequence(
            Der.signedData + Der.tagged(0, Der.sequence([2, 1, 1] + Der.set([]) + inner + Der.set(signer))))
    }

    private static var contents: [Case] {
        let missing = ["Name", "UUID", "CreationDate", "ExpirationDate", "Entitlements"]
        return missing.map { key in ("without \(key)", { message(list(key, nil)) }) }
            + values.filter { $0.key != "Version" }.map { key, _ in
                ("\(key) of another type", { message(list(key, "<true/>")) })
            }
            + [
                ("empty contents", { message([]) }), ("contents that are text", { message(Array("{a=b;}".utf8)) }),
                ("contents that are an array", { message(list("<array/>")) }),
                ("contents that are cut", { message(Array("<plist><dict>".utf8)) }),
                (
                    "contents that contain themselves",
                    { message(BinaryListFile([[0xD1, 1, 0], [0x51, 0x61]]).bytes) }
                ),
                ("contents of a billion values", { message(BinaryListFile.doubling(30).bytes) }),
                (
                    "30,000 devices",
                    { message(list("Platform", "<array>" + "<string>a</string>".row(30_000) + "</array>")) }
                ),
                (
                    "a certificate of rubbish",
                    { message(list("DeveloperCertificates", "<array><data>MIIB</data></array>")) }
                ),
                (
                    "a certificate of 1 GiB",
                    { message(list("DeveloperCertificates", "<array><data>MIRAAAAA</data></array>")) }
                ),
                (
                    "entitlements that are wrong",
                    {
                        message(
                            list("Entitlements", "<dict><key>com.apple.security.application-groups</key><true/></dict>")
                        )
                    }
                ),
            ]
    }
}

/// DER (X.690), as far as a message needs it.
private enum Der {
    static let data: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
    static let signedData: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2]

    static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        guard contents.count >= 128 else { return [tag, UInt8(contents.count)] + contents }
        let digits = (0..<4).reversed().map { UInt8(truncatingIfNeeded: contents.count >> (8 * $0)) }.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(digits.count)] + digits + contents
    }

    static func sequence(_ contents: [UInt8]) -> [UInt8] { element(0x30, contents) }
    static func set(_ contents: [UInt8]) -> [UInt8] { element(0x31, contents) }
    static func octets(_ contents: [UInt8]) -> [UInt8] { element(0x04, contents) }
    static func tagged(_ number: UInt8, _ contents: [UInt8]) -> [UInt8] { element(0xA0 | number, contents) }
}
