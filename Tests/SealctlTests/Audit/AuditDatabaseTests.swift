#if SQLite
import SealedState
import SealedStateSQLite
import TestSupport
import Testing

private struct Note: SealedRecord {
    static let recordName = "note"
    static let schemaVersion = 1
    var text: String
}

/// `sealctl audit` of a container whose records are in a database.
@Suite struct AuditDatabaseTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        var options = StoreOptions()
        options.backend = SQLiteProvider()
        let home = GroupsHome(root: sandbox.path("groups"))
        let store = try SealedStore(group: try AppGroup(Sandbox.group), in: home, options: options)
        try store.write(Note(text: "one"))
        try store.write(Note(text: "two"), named: "accounts/ada")
    }

    private let database = "Library/Application Support/Records.sqlite"

    @Test func recordsAreVerified() throws {
        let result = try sandbox.succeed(["audit", "--with-keys", "--json"])
        let report = try decode(MachineAudit.self, result.output)
        #expect(report.isClean && report.withKeys)
        let text = try sandbox.succeed(["audit", "--all-files"]).outputText
        #expect(text.contains("\(database)/accounts/ada") && text.contains("verified"))
        #expect(try sandbox.succeed(["audit", "--all-files", sandbox.container]).outputText.contains("ada"))
    }

    @Test func everyFormStatesAFindingOfADatabase() throws {
        try sandbox.flip("\(sandbox.container)/\(database)", at: 2 * 4096)
        #expect(try sandbox.sealctl(["audit", "--json", "-o", "report.json"]).exitCode == 1)
        for form in AuditFormatTests.formats {
            let result = try sandbox.sealctl(["audit", "--from", "report.json", "-f", form, "-o", "out"])
            #expect(result.exitCode == 1, "\(result.errorText)")
            let text = String(decoding: try SystemFile.read(sandbox.path("files/out")), as: UTF8.self)
            #expect(text.contains("database.damaged") && text.contains("Records.sqlite"), "\(form)")
            let check = try ChildProcess.run(
                Python.pathWithSchemas, [AuditFormatTests.checker, form, "report.json", "out"],
                directory: sandbox.path("files"))
            #expect(check.exitCode == 0, "\(form): \(check.outputText)\(check.errorText)")
        }
        #expect(try sandbox.succeed(["audit", "--explain", "database.damaged"]).outputText.contains("snapshot"))
    }
}
#endif
