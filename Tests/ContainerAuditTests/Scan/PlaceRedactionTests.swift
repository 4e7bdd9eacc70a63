import ContainerAudit
import TestSupport
import Testing

@Suite struct PlaceRedactionTests {
    let sandbox: ScanSandbox
    init() throws { sandbox = try ScanSandbox() }

    @Test func aTokenThatServesAsAKeyIsFoundAndNotShown() throws {
        let token = ScanSandbox.secret(1)
        try sandbox.put("state.json", "{\"\(token)\": {\"password\": \"k7Qz-correct-horse-99\"}}\n")
        let report = try sandbox.audit()
        #expect(report.findings.contains { $0.id == ScanSandbox.check })
        #expect(report.findings.contains { $0.id == "field.password" })
        let text = String(decoding: try report.json(), as: UTF8.self)
        #expect(!text.contains(token))
    }
}
