import ContainerAudit
import FoundationEssentials
import SealedState
import Sealing
import TestSupport
import Testing

@Suite struct PayloadTests {
    let sandbox: AuditSandbox
    let store: SealedStore
    init() throws {
        sandbox = try AuditSandbox()
        store = try sandbox.store()
    }

    /// Seals a payload as the record `state` without a writer's checks.
    private func seal(_ payload: String, codec: PayloadCodec = .json, notAfter: Date? = nil) throws {
        let description = BlobDescription(
            record: BlobContext(group: sandbox.group.identifier, kind: .record, name: "state"), schemaVersion: 1,
            sequence: 1, sealedAt: UInt64(Date().timeIntervalSince1970 * 1000),
            notAfter: notAfter.map { UInt64($0.timeIntervalSince1970 * 1000) } ?? 0, codec: codec)
        let key = try store.vault.activeKey()
        let blob = Array(payload.utf8).withUnsafeBytes { BlobSealer.seal($0, as: description, key: key) }
        try sandbox.put("\(AuditSandbox.records)/state.sealed", blob)
    }

    @Test(arguments: ["{\"a\":1", "not JSON", "", "{\"a\":1,}", String(repeating: "[", count: 100)])
    func whatNoReaderDecodesIsFound(payload: String) throws {
        try seal(payload)
        let report = try sandbox.audit()
        #expect(report.ids == ["record.unreadable"])
        #expect(report.verdict(ofRecord: "state") == .verified)
    }

    @Test func aPropertyListThatIsInvalidIsFound() throws {
        try seal("{}", codec: .binaryPropertyList)
        #expect(try sandbox.audit().ids == ["record.unreadable"])
    }

    @Test(
        arguments: [
            #"{"expiresAt":"2001-01-01T00:00:00Z"}"#, #"{"expires_at":1600000000}"#, #"{"exp":"1600000000000"}"#,
        ])
    func anEndThatHasPassedAndReadersDoNotKnowIsFound(payload: String) throws {
        try seal(payload)
        let report = try sandbox.audit()
        #expect(report.ids == ["record.expiry-unsealed"])
        #expect(report.findings.first?.severity == .low)
        #expect(!String(decoding: try report.json(), as: UTF8.self).contains("1600000000"))
    }

    @Test func anEndToComeIsOnlyGoodToKnow() throws {
        try seal(#"{"notAfter":"2099-01-01T00:00:00Z"}"#)
        let report = try sandbox.audit()
        #expect(report.ids == ["record.expiry-unsealed"])
        #expect(report.isClean)
    }

    @Test(arguments: [#"{"expires":3600}"#, #"{"expiry":"never"}"#, #"{"inner":{"exp":1600000000}}"#, "[1600000000]"])
    func whatIsNoTimeOfItsOwnIsNot(payload: String) throws {
        try seal(payload)
        #expect(try sandbox.audit().ids == [])
    }

    @Test func anEndThatTheHeaderHasAsWellIsAsItShouldBe() throws {
        try seal(#"{"expiresAt":"2099-01-01T00:00:00Z"}"#, notAfter: Date(timeIntervalSince1970: 4_070_908_800))
        #expect(try sandbox.audit().ids == [])
    }

    @Test func secretsInASealedRecordAreWhereTheyBelong() throws {
        try seal(#"{"password":"hunter2!X9","token":"ghp_16C7e42F292c6912E7710c838347Ae178B4a"}"#)
        #expect(try sandbox.audit().ids == [])
    }
}
