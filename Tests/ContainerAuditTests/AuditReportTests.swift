import ContainerAudit
import FoundationEssentials
import SealedState
import Sealing
import TestSupport
import Testing

@Suite struct AuditReportTests {
    @Test func aReportReadsBackFromItsJSON() throws {
        let yard = try AuditYard()
        let store = try yard.filled()
        try store.write(Token(text: "x", end: Date() + 1000.123), named: "ends")
        try yard.change(yard.path(ofRecord: "state")) { $0[180] ^= 1 }
        try yard.put("notes", "text")
        let report = try yard.audit()
        #expect(try AuditReport(json: try report.json()) == report)
    }

    @Test func theJSONHasOctalModesShortTimesAndNulls() throws {
        let yard = try AuditYard()
        let store = try yard.filled()
        let sealed = Date(timeIntervalSince1970: 1_763_695_800.123)
        try yard.put("film", try store.seal("x", as: "", kind: .stream, sequence: 0, sealedAt: sealed))
        let text = String(decoding: try yard.audit().json(), as: UTF8.self)
        #expect(text.contains(#""mode":"0600""#))
        #expect(text.contains(#""sealedAt":"2025-11-21T03:30:00.123Z""#))
        #expect(text.contains(#""notAfter":null"#))
        #expect(text.contains(#""name":null"#))
        #expect(text.contains(#""verdict":{"code":null,"state":"verified"}"#))
        #expect(text.contains(#""record":null,"size":0,"storedSize":0,"verdict":null"#))
        #expect(String(decoding: try yard.auditByPath().json(), as: UTF8.self).contains(#""group":null"#))
    }

    @Test func aTimeThatNoCalendarHasDoesNotHinderTheReport() throws {
        let yard = try AuditYard()
        try yard.filled()
        try yard.change(yard.path(ofRecord: "state")) { for index in 72..<80 { $0[index] = 0xFF } }
        let report = try yard.audit()
        #expect(try AuditReport(json: try report.json()) == report)
    }

    @Test func theJSONCountsBySeverity() throws {
        let yard = try AuditYard()
        try yard.filled()
        try yard.put("notes", "text")
        let report = try yard.audit()
        #expect(report.counts == [.info: 0, .low: 0, .medium: 1, .high: 0, .critical: 0])
        let text = String(decoding: try report.json(), as: UTF8.self)
        #expect(text.contains(#""counts":{"critical":0,"high":0,"info":0,"low":0,"medium":1}"#))
        #expect(text.contains(#""isClean":false"#))
    }

    @Test func theGravestFindingComesFirst() throws {
        let yard = try AuditYard()
        try yard.filled()
        try yard.put("a-notes", "text")
        try yard.change(yard.path(ofRecord: "state")) { $0[180] ^= 1 }
        #expect(try yard.audit().findings.map(\.severity) == [.critical, .medium])
    }
}
