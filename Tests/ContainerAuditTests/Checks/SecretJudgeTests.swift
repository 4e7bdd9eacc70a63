import ContainerAudit
import FoundationEssentials
import TestSupport
import Testing

/// Tests of a secret's severity by its known properties.
@Suite struct SecretJudgeTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        _ = try sandbox.store()
    }

    /// Returns a signed token that ends at that time.
    private static func webToken(until end: Int) -> String {
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        var generator = SeededGenerator(seed: 3)
        let signature = Data(generator.bytes(32)).base64EncodedString()
        return part(#"{"alg":"HS256","typ":"JWT"}"#) + "." + part("{\"sub\":\"ada\",\"exp\":\(end)}") + "."
            + signature.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    @Test func aTokenThatEndsIsGraverBeforeThatThanAfter() throws {
        let end = Int(Date().timeIntervalSince1970) + 86400
        try sandbox.put("notes.txt", "token \(Self.webToken(until: end))\n")
        let valid = try #require(try sandbox.audit().findings.first { $0.id.hasPrefix("token.jwt") })
        let past = try #require(
            try sandbox.audit(now: Date() + 2 * 86400).findings.first { $0.id.hasPrefix("token.jwt") })
        #expect(past.severity < valid.severity)
        #expect(valid.detail.contains("until") && past.detail.contains("expired"))
        #expect(valid.remedy != past.remedy || valid.detail != past.detail)
    }

    @Test(
        arguments: [
            ("app.log", "Stop writing it to logs"), ("Library/Caches/a.txt", "remove the cache"),
            ("Library/Preferences/a.plist", "sealctl import defaults"), ("Documents/a.txt", "sealctl import file"),
        ])
    func theRemedyIsForWhatHoldsIt(path: String, part: String) throws {
        let secret = "AKIA2OGYBAH63UJTVW4Q"
        let isList = path.hasSuffix(".plist")
        try sandbox.put(
            path,
            isList
                ? "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict><key>id</key><string>\(secret)</string></dict></plist>"
                : "id \(secret)\n")
        let finding = try #require(try sandbox.audit().finding("token.aws"))
        #expect(finding.remedy.contains(part))
        #expect(finding.remedy.contains(path))
        #expect(!finding.detail.contains(secret) && !finding.remedy.contains(secret))
    }
}
