#if SQLite
import ContainerAudit
import FoundationEssentials
import SealedState
import Sealing
import TestSupport
import Testing

/// A fault of a record, planted in a file or in a database, and the expected findings.
struct PlantedRecord: Sendable, CustomTestStringConvertible {
    let fault: String
    let ids: [String]
    let plant: @Sendable (StoredRecords) throws -> Void
    var testDescription: String { fault }

    init(_ fault: String, _ ids: [String], _ plant: @escaping @Sendable (StoredRecords) throws -> Void) {
        self.fault = fault
        self.ids = ids
        self.plant = plant
    }

    static let all = changes + forms + orders + contents

    private static let changes =
        ChangedByte.all.map { change in
            PlantedRecord("changed \(change.field)", [change.id]) { records in
                try records.change("state") { $0[change.offset] ^= 0x40 }
            }
        }

    private static let forms = [
        PlantedRecord("no fault", []) { _ in },
        PlantedRecord("cut", ["blob.tampered"]) { try $0.change("state") { $0.removeLast() } },
        PlantedRecord("appended", ["blob.tampered"]) { try $0.change("state") { $0.append(0) } },
        PlantedRecord("empty", ["blob.malformed"]) { try $0.put("state", []) },
        PlantedRecord("shorter than a header", ["blob.malformed"]) {
            try $0.change("state") { $0.removeLast($0.count - 100) }
        },
        PlantedRecord("shorter than a blob", ["blob.malformed"]) {
            try $0.change("state") { $0.removeLast($0.count - 180) }
        },
        PlantedRecord("another record's", ["blob.wrong-place"]) { try $0.put("other", $0.blob("state")) },
        PlantedRecord("another group's", ["blob.wrong-place"]) { records in
            let foreign = try SealedStore(
                group: try AppGroup("group.com.example.other"), in: records.sandbox.home)
            try records.put("state", foreign.seal("x", as: "state", sequence: 9))
        },
        PlantedRecord("a stream", ["blob.wrong-place"]) {
            try $0.put("film", $0.store.seal("x", as: "", kind: .stream, sequence: 0))
        },
    ]

    private static let orders = [
        PlantedRecord("replayed", ["blob.replayed"]) { records in
            let old = try records.blob("state")
            try records.store.write(Token(text: "third"))
            try records.put("state", old)
        },
        PlantedRecord("forked", ["blob.forked"]) {
            try $0.put("state", $0.store.seal("x", as: "state", sequence: 2))
        },
        PlantedRecord("far ahead", ["blob.sequence-jump"]) {
            try $0.put("state", $0.store.seal("x", as: "state", sequence: 1 << 40))
        },
        PlantedRecord("of the future", ["blob.not-yet-valid"]) {
            try $0.put("state", $0.store.seal("x", as: "state", sequence: 3, sealedAt: Date() + 600))
        },
        PlantedRecord("expired", ["blob.stale"]) {
            try $0.put(
                "state",
                $0.store.seal("x", as: "state", sequence: 3, sealedAt: Date() - 60, notAfter: Date() - 30))
        },
        PlantedRecord("under a retired key", ["blob.retired-key"]) { records in
            let old = try records.blob("state")
            _ = try records.store.rotate()
            try records.put("state", old)
        },
        PlantedRecord("of no writer", ["blob.not-authorized"]) { records in
            try records.govern("state")
            try records.put("state", records.store.seal("x", as: "state", sequence: 3))
        },
        PlantedRecord("missing", ["record.missing"]) { try $0.remove("state") },
        PlantedRecord("deleted", []) { try $0.store.delete(named: "state") },
    ]

    private static let contents = [
        PlantedRecord("too large", ["blob.oversized"]) {
            try $0.put("large", $0.store.seal(String(repeating: "x", count: 3 << 20), as: "large", sequence: 1))
        },
        PlantedRecord("too large and changed", ["blob.tampered"]) { records in
            let text = String(repeating: "x", count: 3 << 20)
            try records.put("large", records.store.seal(text, as: "large", sequence: 1))
            try records.change("large") { $0[2 << 20] ^= 1 }
        },
        PlantedRecord("not JSON", ["record.unreadable"]) {
            try $0.put("odd", $0.store.seal("a\" b", as: "odd", sequence: 1))
        },
        PlantedRecord("a credential that never expires", ["record.endless"]) {
            try $0.put("ada/token", $0.store.seal("x", as: "ada/token", sequence: 1))
        },
        PlantedRecord("plaintext", ["blob.not-sealed"]) { try $0.put("notes", Array("some text\n".utf8)) },
        PlantedRecord("plaintext with a secret", ["blob.not-sealed", "field.password"]) {
            try $0.put("settings", Array(#"{"password":"vZ7qTnpL2xWfKd"}"#.utf8))
        },
        PlantedRecord("a key file", ["keyfile.inside-container"]) {
            try $0.put("k", Array("sealed-key-1 0123456789abcdef\n".utf8))
        },
    ]
}

/// The audit judges a record by its blob, regardless of whether the blob is in a file or in a database.
@Suite struct DatabaseParityTests {
    /// A finding without what depends on the place of the records or is drawn at random.
    private struct Neutral: Hashable {
        let id: String
        let severity: Severity
        let confidence: Confidence
        let path: String
        let detail: String
        let place: FindingLocation?

        init(_ finding: Finding, in storage: RecordStorage) {
            id = finding.id
            severity = finding.severity
            confidence = finding.confidence
            path = storage.neutral(finding.path)
            let words = finding.detail.split(separator: " ").map { word in
                // The id of a key.
                word.count >= 32 && word.allSatisfy { $0.isHexDigit || ",.".contains($0) } ? "ID" : word
            }
            detail = words.joined(separator: " ")
            place = finding.location
        }
    }

    private func report(of fault: PlantedRecord, in storage: RecordStorage) throws -> AuditReport {
        let records = try StoredRecords(in: storage, of: AuditSandbox())
        try fault.plant(records)
        return try records.sandbox.auditDatabase()
    }

    @Test(arguments: PlantedRecord.all) func aFaultIsTheSameInBothPlaces(fault: PlantedRecord) throws {
        let files = try report(of: fault, in: .files)
        let database = try report(of: fault, in: .database)
        #expect(files.ids == fault.ids)
        #expect(
            Set(files.findings.map { Neutral($0, in: .files) })
                == Set(database.findings.map { Neutral($0, in: .database) }))
        #expect(database.ids == fault.ids)
        #expect(files.withKeys && database.withKeys)
        let sealed = { (report: AuditReport, storage: RecordStorage) in
            Dictionary(
                uniqueKeysWithValues: report.files.filter { storage.neutral($0.path) != $0.path }.map {
                    (storage.neutral($0.path), "\($0.kind) \($0.size) \(String(describing: $0.verdict))")
                }.filter { $0.0.hasPrefix("RECORDS/") })
        }
        #expect(sealed(files, .files) == sealed(database, .database))
    }

    @Test func aNameThatNoRecordHasIsFound() throws {
        let records = try StoredRecords(in: .database, of: AuditSandbox())
        let names = ["no name", "../Caches/x", "a//b", ".x.new", "a.bak", String(repeating: "n", count: 600)]
        for name in names { try records.put(name, records.blob("state")) }
        let report = try records.sandbox.auditDatabase()
        #expect(report.row("no name")?.verdict == .refused("wrongName"))
        #expect(report.row("../Caches/x")?.verdict == .refused("wrongName"))
        #expect(Set(report.ids) == ["blob.wrong-place", "file.unexamined"])
        #expect(report.findings.count == names.count)
    }
}
#endif
