import ContainerAudit
import FoundationEssentials
import SealedState
import Sealing
import TestSupport
import Testing

@Suite struct AuditReportTests {
    @Test func aReportReadsBackFromItsJSON() throws {
        let sandbox = try AuditSandbox()
        let store = try sandbox.filled()
        try store.write(Token(text: "x", end: Date() + 1000.123), named: "ends")
        try sandbox.change(sandbox.path(ofRecord: "state")) { $0[180] ^= 1 }
        try sandbox.put("notes", "text")
        let report = try sandbox.audit()
        #expect(try AuditReport(json: try report.json()) == report)
    }

    @Test func theJSONHasOctalModesShortTimesAndNulls() throws {
        let sandbox = try AuditSandbox()
        let store = try sandbox.filled()
        let sealed = Date(timeIntervalSince1970: 1_763_695_800.123)
        try sandbox.put("film", try store.seal("x", as: "", kind: .stream, sequence: 0, sealedAt: sealed))
        let text = String(decoding: try sandbox.audit().json(), as: UTF8.self)
        #expect(text.contains(#""mode":"0600""#))
        #expect(text.contains(#""sealedAt":"2025-11-21T03:30:00.123Z""#))
        #expect(text.contains(#""notAfter":null"#))
        #expect(text.contains(#""name":null"#))
        #expect(text.contains(#""verdict":{"code":null,"state":"verified"}"#))
        #expect(text.contains(#""record":null,"size":0,"storedSize":0,"verdict":null"#))
        #expect(String(decoding: try sandbox.auditByPath().json(), as: UTF8.self).contains(#""group":null"#))
    }

    @Test func aTimeThatNoCalendarHasDoesNotHinderTheReport() throws {
        let sandbox = try AuditSandbox()
        try sandbox.filled()
        try sandbox.change(sandbox.path(ofRecord: "state")) { for index in 72..<80 { $0[index] = 0xFF } }
        let report = try sandbox.audit()
        #expect(try AuditReport(json: try report.json()) == report)
    }

    @Test func theJSONCountsBySeverity() throws {
        let sandbox = try AuditSandbox()
        try sandbox.filled()
        try sandbox.put("notes", "text")
        let report = try sandbox.audit()
        #expect(report.counts == [.info: 0, .low: 0, .medium: 1, .high: 0, .critical: 0])
        let text = String(decoding: try report.json(), as: UTF8.self)
        #expect(text.contains(#""counts":{"critical":0,"high":0,"info":0,"low":0,"medium":1}"#))
        #expect(text.contains(#""isClean":false"#))
    }

    @Test func theGravestFindingComesFirst() throws {
        let sandbox = try AuditSandbox()
        try sandbox.filled()
        try sandbox.put("a-notes", "text")
        try sandbox.change(sandbox.path(ofRecord: "state")) { $0[180] ^= 1 }
        #expect(try sandbox.audit().findings.map(\.severity) == [.critical, .medium])
    }
}
