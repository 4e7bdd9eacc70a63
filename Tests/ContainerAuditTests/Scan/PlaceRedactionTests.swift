import ContainerAudit
import TestSupport
import Testing

@Suite struct PlaceRedactionTests {
    let yard: ScanYard
    init() throws { yard = try ScanYard() }

    @Test func aTokenThatServesAsAKeyIsFoundAndNotShown() throws {
        let token = ScanYard.secret(1)
        try yard.put("state.json", "{\"\(token)\": {\"password\": \"k7Qz-correct-horse-99\"}}\n")
        let report = try yard.audit()
        #expect(report.findings.contains { $0.id == ScanYard.check })
        #expect(report.findings.contains { $0.id == "field.password" })
        let text = String(decoding: try report.json(), as: UTF8.self)
        #expect(!text.contains(token))
    }
}
