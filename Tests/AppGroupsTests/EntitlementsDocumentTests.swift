import AppGroups
import PropertyLists
import SharedFiles
import TestSupport
import Testing

@Suite struct EntitlementsDocumentTests {
    static let xml = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
            <key>com.apple.security.application-groups</key>
            <array><string>group.com.example.app</string><string>$(TeamIdentifierPrefix)x</string></array>
            <key>keychain-access-groups</key>
            <array><string>$(AppIdentifierPrefix)com.example.shared</string></array>
            <key>com.apple.developer.ubiquity-kvstore-identifier</key>
            <string>$(TeamIdentifierPrefix)$(CFBundleIdentifier)</string>
            <key>com.apple.security.app-sandbox</key><true/>
            <key>com.apple.developer.team-identifier</key><string>ABCDE12345</string>
            <key>application-identifier</key><string>ABCDE12345.com.example.app</string>
            <key>aps-environment</key><string>development</string>
        </dict>
        </plist>
        """

    @Test func everyKeyIsUsedUnchanged() throws {
        let document = try EntitlementsDocument(parsing: Array(Self.xml.utf8))
        #expect(document.applicationGroups == ["group.com.example.app", "$(TeamIdentifierPrefix)x"])
        #expect(document.keychainAccessGroups == ["$(AppIdentifierPrefix)com.example.shared"])
        #expect(document.keyValueStoreIdentifier == "$(TeamIdentifierPrefix)$(CFBundleIdentifier)")
        #expect(document.isSandboxed == true)
        #expect(document.teamIdentifier == "ABCDE12345")
        #expect(document.applicationIdentifier == "ABCDE12345.com.example.app")
        #expect(document["aps-environment"] == .string("development"))
        #expect(
            document.keys == [
                "application-identifier", "aps-environment", "com.apple.developer.team-identifier",
                "com.apple.developer.ubiquity-kvstore-identifier", "com.apple.security.app-sandbox",
                "com.apple.security.application-groups", "keychain-access-groups",
            ])
    }

    @Test func theBinaryFormSaysTheSame() throws {
        let xml = try EntitlementsDocument(parsing: Array(Self.xml.utf8))
        let list = try Array(Self.xml.utf8).withUnsafeBytes { try PropertyList.parse($0).value }
        let binary = try PropertyList.bytes(of: list, as: .binary)
        #expect(try EntitlementsDocument(parsing: binary) == xml)
    }

    @Test func aMissingKeyIsNotAnEmptyOne() throws {
        let document = try EntitlementsDocument(
            .dictionary(["com.apple.security.application-groups": .array([])]))
        #expect(document.applicationGroups == [])
        #expect(document.keychainAccessGroups == nil)
        #expect(document.applicationIdentifier == nil && document.teamIdentifier == nil)
        #expect(document.keyValueStoreIdentifier == nil && document.isSandboxed == nil)
    }

    @Test func aMacProgramsIdentifierIsFoundUnderItsOwnKey() throws {
        let mac = PropertyListValue.string("ABCDE12345.com.example.mac")
        #expect(
            try EntitlementsDocument(.dictionary(["com.apple.application-identifier": mac])).applicationIdentifier
                == "ABCDE12345.com.example.mac")
    }

    @Test(arguments: [
        PropertyListValue.array([]), .string("x"), .bool(true),
        .dictionary(["com.apple.security.application-groups": .string("group.x")]),
        .dictionary(["com.apple.security.application-groups": .array([.string("group.x"), .integer(1)])]),
        .dictionary(["com.apple.security.application-groups": .dictionary([:])]),
        .dictionary(["keychain-access-groups": .bool(true)]),
        .dictionary(["keychain-access-groups": .array([.array([])])]),
        .dictionary(["application-identifier": .integer(5)]),
        .dictionary(["com.apple.application-identifier": .data([1])]),
        .dictionary(["com.apple.developer.team-identifier": .array([.string("ABCDE12345")])]),
        .dictionary(["com.apple.developer.ubiquity-kvstore-identifier": .bool(false)]),
        .dictionary(["com.apple.security.app-sandbox": .string("YES")]),
        .dictionary(["com.apple.security.app-sandbox": .integer(1)]),
    ])
    func anotherTypeIsRefused(list: PropertyListValue) {
        let error = #expect(throws: AppGroupError.self) { try EntitlementsDocument(list) }
        #expect(error?.code == .malformedEntitlements)
    }

    @Test(arguments: [
        "", "no property list", "<plist/>", "{ \"keychain-access-groups\" = (x); }", "bplist00",
        "<?xml version=\"1.0\"?>",
    ])
    func whatIsNoPropertyListInXMLOrBinaryIsRefused(text: String) {
        let error = #expect(throws: AppGroupError.self) { try EntitlementsDocument(parsing: Array(text.utf8)) }
        #expect(error?.code == .malformedEntitlements)
    }

    @Test func aListThatGrowsWhenReadIsRefused() {
        let error = #expect(throws: AppGroupError.self) {
            try EntitlementsDocument(parsing: PropertyListFile.doubling(20).bytes)
        }
        #expect(error?.code == .malformedEntitlements)
    }
}

@Suite struct EntitlementsFileTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test func aFileIsRead() throws {
        try directory.file("a.entitlements", EntitlementsDocumentTests.xml)
        let document = try EntitlementsDocument.read(path: directory.path("a.entitlements"))
        #expect(document.isSandboxed == true)
    }

    @Test func aLinkOnTheWayIsFollowed() throws {
        try directory.directory("real")
        try directory.file("real/a.entitlements", EntitlementsDocumentTests.xml)
        try directory.link("way", to: "real")
        #expect(try EntitlementsDocument.read(path: directory.path("way/a.entitlements")).isSandboxed == true)
    }

    @Test(arguments: [
        ("missing", FileError.Code.notFound), ("link", .unsafePath), ("fifo", .notRegularFile),
        ("directory", .notRegularFile), ("large", .tooLarge), ("a\0b", .invalidName),
    ])
    func anUnreadableFileIsRefused(name: String, code: FileError.Code) throws {
        try directory.file("a", EntitlementsDocumentTests.xml)
        try directory.link("link", to: "a")
        try directory.fifo("fifo")
        try directory.directory("directory")
        try directory.file("large", String(repeating: " ", count: 1 << 20 + 1))
        let error = #expect(throws: AppGroupError.self) { try EntitlementsDocument.read(path: directory.path(name)) }
        #expect(error?.code == .file)
        #expect(error?.underlying?.code == code)
    }

    @Test func aFileOfTheLargestSizeIsRead() throws {
        let padding = String(repeating: "\n", count: 1 << 20 - EntitlementsDocumentTests.xml.utf8.count)
        try directory.file("a", EntitlementsDocumentTests.xml + padding)
        #expect(try EntitlementsDocument.read(path: directory.path("a")).isSandboxed == true)
    }

    @Test func anErrorNamesTheFile() throws {
        try directory.file("a", "nothing")
        let error = #expect(throws: AppGroupError.self) { try Entitlements.read(path: directory.path("a")) }
        #expect(error?.code == .malformedEntitlements)
        #expect(error?.subject == directory.path("a"))
    }
}
