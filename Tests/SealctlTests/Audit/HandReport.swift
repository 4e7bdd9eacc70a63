import FoundationEssentials

/// A report that no audit wrote, to test formats with any possible content.
struct HandReport: Encodable {
    struct Location: Encodable {
        var line: Int?
        var column: Int?
        var offset: Int?
        var length: Int?
        var place: String?
    }

    struct Finding: Encodable {
        var id = "plaintext.file"
        var severity = "medium"
        var confidence = "certain"
        var path: String
        var title = "A file is not sealed"
        var detail = "It is readable."
        var remedy = "Seal it and remove the original: sealctl encrypt -o x.sealed x && rm x"
        var location: Location?
        var fingerprint: String?
        var references = ["MASVS-STORAGE-1", "MASTG-TEST-0052"]
    }

    struct Verdict: Encodable {
        var state: String
        var code: String?
    }

    struct File: Encodable {
        var path: String
        var kind: String
        var size: Int
        var mode: String? = "0600"
        var record: String?
        var verdict: Verdict?
        /// The stored size; `nil` for the whole size.
        var storedSize: Int?
        var isPlaintext = false

        private enum Key: String, CodingKey {
            case path, kind, size, storedSize, isPlaintext, mode, record, verdict
        }

        /// Encodes unknown values as null, as in every report.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(path, forKey: .path)
            try container.encode(kind, forKey: .kind)
            try container.encode(size, forKey: .size)
            try container.encode(storedSize ?? size, forKey: .storedSize)
            try container.encode(isPlaintext, forKey: .isPlaintext)
            try container.encode(mode, forKey: .mode)
            try container.encode(record, forKey: .record)
            try container.encode(verdict, forKey: .verdict)
        }
    }

    struct Omissions: Encodable {
        var ignored = 0
        var inBaseline = 0
        var allowedInline = 0
        var unlisted: [Unlisted] = []
    }

    struct Unlisted: Encodable {
        var id = "plaintext.file"
        var severity: String
        var count: Int
    }

    var auditedAt = "2026-11-21T03:30:00.5Z"
    var finishedAt = "2026-11-21T03:30:02.25Z"
    var containerPath = "/home/ada/Containers/group.com.example.app"
    var group: String? = "group.com.example.app"
    var withKeys = true
    var files: [File] = []
    var findings: [Finding] = []
    var notes: [String] = []
    var omissions = Omissions()

    func json() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }
}

/// The reports that every format must handle.
enum ReportCase: String, CaseIterable, Sendable {
    case empty, usual, hostile, many

    var report: HandReport {
        switch self {
        case .empty: HandReport()
        case .usual: .usual
        case .hostile: .hostile
        case .many: .many
        }
    }
}

extension HandReport {
    static let severities = ["critical", "high", "medium", "low", "info"]

    static var usual: HandReport {
        var report = HandReport()
        report.files = [
            File(path: "Records/a.sealed", kind: "sealedRecord", size: 2000, verdict: Verdict(state: "verified")),
            File(
                path: "Records/b.sealed", kind: "sealedRecord", size: 900,
                verdict: Verdict(state: "refused", code: "tampered")),
            File(path: "Store/Account.sqlite", kind: "sqlite", size: 220_000, mode: "0644"),
            File(path: "export.json", kind: "json", size: 81_000),
            File(path: "latest", kind: "link", size: 0, mode: nil),
        ]
        report.findings = [
            Finding(
                id: "blob.tampered", severity: "critical", path: "Records/b.sealed", references: ["MASVS-CRYPTO-1"]),
            Finding(
                severity: "high", confidence: "likely", path: "Store/Account.sqlite",
                location: Location(offset: 8192, length: 612, place: "table users, row 12, token"),
                fingerprint: "v1:plaintext.file:" + String(repeating: "a", count: 32)),
            Finding(
                severity: "medium", path: "export.json", location: Location(line: 3, column: 14, offset: 90, length: 20)
            ),
            Finding(id: "mode.world-readable", severity: "low", path: "Store/Account.sqlite", remedy: "chmod o-rwx x"),
            Finding(id: "check.of-another-version", severity: "info", path: ".", references: []),
        ]
        report.notes = ["Something was not read."]
        report.omissions = Omissions(
            ignored: 2, inBaseline: 1, allowedInline: 3, unlisted: [Unlisted(severity: "medium", count: 4)])
        return report
    }

    /// Names and texts with a special meaning in some format.
    static let hostileTexts = [
        "<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", "\" onmouseover=\"alert(1)",
        "it's 'quoted'",
        "=HYPERLINK(\"http://example.invalid\",\"x\")", "+1+1", "-2", "@SUM(A1)", " =1", "\u{FF1D}1", "a,b;c\td",
        "line\nfeed\r\nreturn", "\u{1B}[31mred\u{1B}[0m\u{7}", "bell\u{7F}\u{9B}31m", "]]>", "<!-- -->", "&amp;&#x3c;",
        "right\u{202E}left", "zero\u{200B}width", "line\u{2028}separator", "\u{1F511} key 鍵 ключ é e\u{301}",
        "\u{FFFE}\u{FFFF}",
        "percent %00 %0a", "{{template}} ${shell} `tick`", "back\\slash", "...", String(repeating: "long/", count: 200),
    ]

    static var hostile: HandReport {
        var report = HandReport()
        report.containerPath = "/tmp/<b>\"&'\n=1/\u{1B}[2J"
        report.group = "group.<i>\u{202E}x"
        for (index, text) in hostileTexts.enumerated() {
            report.files.append(File(path: text, kind: index % 2 == 0 ? "text" : "<kind>", size: 100 + index * 37))
            report.findings.append(
                Finding(
                    id: index % 3 == 0 ? text : "plaintext.file", severity: severities[index % 5], path: text,
                    title: text, detail: text, remedy: text,
                    location: Location(line: index + 1, offset: index, length: .max, place: text), fingerprint: text,
                    references: [text, "MASVS-\(text)"]))
        }
        report.notes = hostileTexts
        report.omissions.unlisted = [Unlisted(id: "<script>", severity: "high", count: 3)]
        return report
    }

    static var many: HandReport {
        var report = HandReport()
        for index in 0..<10_000 {
            let path = "logs/\(index % 700)/app.log"
            report.findings.append(
                Finding(
                    severity: severities[index % 5], path: path,
                    location: Location(line: index + 1, offset: index * 80, length: 40),
                    fingerprint: "v1:plaintext.file:" + String(index)))
        }
        report.files = (0..<700).map { File(path: "logs/\($0)/app.log", kind: "text", size: $0 * 11) }
        return report
    }
}
