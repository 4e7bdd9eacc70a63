import ContainerAudit
import TestSupport
import Testing

@Suite struct CookieCheckTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        _ = try sandbox.store()
    }

    /// Returns a cookie file with one page and one cookie, in the format of Apple's networking library.
    private static func file(_ name: String, flags: UInt8, value: String = "1") -> [UInt8] {
        func little(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        func big(_ number: Int) -> [UInt8] { little(number).reversed() }
        var texts: [UInt8] = []
        var offsets: [Int] = []
        for text in ["example.com", name, "/", value] {
            offsets.append(56 + texts.count)
            texts += Array(text.utf8) + [0]
        }
        var cookie = little(56 + texts.count) + little(0) + [flags, 0, 0, 0] + little(0)
        cookie += offsets.flatMap(little) + [UInt8](repeating: 0, count: 8) + [UInt8](repeating: 0, count: 16) + texts
        let page = [0, 0, 1, 0] + little(1) + little(16) + little(0) + cookie
        return Array("cook".utf8) + big(1) + big(page.count) + page + [UInt8](repeating: 0, count: 8)
    }

    @Test(arguments: [("JSESSIONID", 4, Severity.medium), ("connect.sid", 0, .medium), ("auth_token", 1, .low)])
    func aSessionsCookieWithoutItsFlagsIsFound(name: String, flags: UInt8, severity: Severity) throws {
        try sandbox.put("Library/Cookies/Cookies.binarycookies", Self.file(name, flags: flags))
        let finding = try #require(try sandbox.audit().finding("cookie.insecure"))
        #expect(finding.severity == severity)
        #expect(finding.location?.place?.contains(name) == true)
    }

    @Test(arguments: [("JSESSIONID", 5), ("theme", 0), ("XSRF-TOKEN", 1), ("csrf_session", 0)] as [(String, UInt8)])
    func otherCookiesAreAsTheyShouldBe(name: String, flags: UInt8) throws {
        try sandbox.put("Library/Cookies/Cookies.binarycookies", Self.file(name, flags: flags))
        #expect(try sandbox.audit().finding("cookie.insecure") == nil)
    }
}
