import ContainerAudit
import TestSupport
import Testing

/// A planted file and its severity.
struct PlantedFile: Sendable, CustomTestStringConvertible {
    let path: String
    let bytes: [UInt8]
    let kind: FileClass
    let severity: Severity
    var testDescription: String { path }

    init(_ path: String, _ text: String, _ kind: FileClass, _ severity: Severity) {
        self.init(path, Array(text.utf8), kind, severity)
    }

    init(_ path: String, _ bytes: [UInt8], _ kind: FileClass, _ severity: Severity) {
        self.path = path
        self.bytes = bytes
        self.kind = kind
        self.severity = severity
    }

    static let all = [
        PlantedFile("\(AuditSandbox.records)/state.json", #"{"name": "Ada"}"#, .json, .high),
        PlantedFile("\(AuditSandbox.records)/bytes", [0, 1, 2, 255], .binary, .medium),
        PlantedFile("Library/Caches/list.json", " [1, 2]", .json, .low),
        PlantedFile("Library/Caches/bytes", [0, 1, 2, 255], .binary, .low),
        PlantedFile("Library/Preferences/a.plist", "bplist00\u{1}\u{2}", .binaryPropertyList, .medium),
        PlantedFile("Library/Preferences/b.plist", "<?xml?>\n<plist version='1.0'/>", .propertyList, .medium),
        PlantedFile("data.db", "SQLite format 3\0\u{10}", .sqlite, .medium),
        PlantedFile("data.db-wal", [0x37, 0x7F, 0x06, 0x82, 0], .sqlite, .medium),
        PlantedFile("notes.txt", "buy milk", .text, .medium),
        PlantedFile("notes16.txt", [0xFF, 0xFE, 0x62, 0], .text, .medium),
        PlantedFile("brace.txt", "{ not json", .text, .medium),
        PlantedFile(".sealedstate.lock", "hidden here", .text, .medium),
        PlantedFile("picture", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0], .binary, .info),
        PlantedFile("photo.jpg", [0xFF, 0xD8, 0xFF, 0xE0, 0, 2, 0xFF, 0xD9], .binary, .info),
        PlantedFile("\(AuditSandbox.records)/photo", [0xFF, 0xD8, 0xFF, 0xE0, 0, 2, 0xFF, 0xD9], .binary, .medium),
        PlantedFile("Library/Cookies/Cookies.binarycookies", Array("cook".utf8) + [0, 0, 0, 0], .binary, .medium),
        PlantedFile("unknown", [0x89, 0x50, 0, 1], .binary, .low),
    ]
}

@Suite struct PlaintextFindingTests {
    let sandbox: AuditSandbox
    init() throws { sandbox = try AuditSandbox() }

    @Test(arguments: PlantedFile.all) func plaintextIsFoundForWhatItIs(planted: PlantedFile) throws {
        _ = try sandbox.store()
        try sandbox.put(planted.path, planted.bytes)
        let report = try sandbox.audit()
        // Some files end in the middle of a structure.
        #expect(report.ids.filter { $0 != "content.partly-read" } == ["plaintext.file"])
        #expect(report.file(planted.path)?.kind == planted.kind)
        #expect(report.finding("plaintext.file")?.severity == planted.severity)
        #expect(report.finding("plaintext.file")?.path == planted.path)
        #expect(try sandbox.auditByPath().ids == report.ids)
    }

    @Test func aSecretIsAFindingOfItsOwnAndTheFileIsJudgedAsBefore() throws {
        _ = try sandbox.store()
        try sandbox.put("login.json", #"{"password": "vN7!qz_Lr3#dTw9"}"#)
        let report = try sandbox.audit()
        #expect(report.ids == ["field.password", "plaintext.file"])
        #expect(report.finding("plaintext.file")?.severity == .medium)
        #expect(!String(decoding: try report.json(), as: UTF8.self).contains("qz_Lr3"))
    }

    @Test(
        arguments: [
            ("\(AuditSandbox.records)/state.sealed", #"{"name": "Ada"}"#), ("Documents/notes.sealed", "buy milk"),
            ("data.sealed", "SQLite format 3\0\u{10}"),
        ])
    func whatOnlyHasTheNameOfASealedFileIsFound(path: String, text: String) throws {
        _ = try sandbox.store()
        try sandbox.put(path, text)
        let report = try sandbox.audit()
        #expect(report.ids.filter { $0 != "content.partly-read" } == ["blob.not-sealed"])
        #expect(report.finding("blob.not-sealed")?.severity == .high)
    }

    @Test func anEmptyFileIsNotPlaintext() throws {
        _ = try sandbox.store()
        try sandbox.put("empty", [])
        let report = try sandbox.audit()
        #expect(report.ids == [])
        #expect(report.file("empty")?.kind == .empty)
    }

    @Test func aKeyFileInTheContainerIsCritical() throws {
        try sandbox.filled()
        try sandbox.put("Library/copy", try SystemFile.read(sandbox.keyFile))
        let report = try sandbox.audit()
        #expect(report.ids == ["keyfile.inside-container"])
        #expect(report.findings.first?.severity == .critical)
    }

    @Test func aVaultInTheContainerIsFound() throws {
        try sandbox.filled()
        try sandbox.put("vault", try SystemFile.read(sandbox.vault))
        let report = try sandbox.audit()
        #expect(report.ids == ["vault.inside-container"])
        #expect(report.file("vault")?.kind == .sealedVault)
    }

    @Test(arguments: [("odd", "sealctl encrypt --group group.com.example.audit -o"), ("odd name", "odd name'.sealed")])
    func aRemedyNamesTheFileAsAShellTakesIt(name: String, part: String) throws {
        _ = try sandbox.store()
        try sandbox.put(name, "text")
        #expect(try sandbox.audit().finding("plaintext.file")?.remedy.contains(part) == true)
    }

    @Test func aNameCannotDriveTheTerminal() throws {
        _ = try sandbox.store()
        try sandbox.put("\u{1B}[2Jx", "text")
        let report = try sandbox.audit()
        let json = String(decoding: try report.json(), as: UTF8.self)
        #expect(!json.contains("u001b") && !json.contains("\u{1B}"))
        #expect(report.files.first?.path == "\\u{1b}[2Jx")
        #expect(report.findings.first?.remedy.contains("\\x1b[2Jx") == true)
    }
}
