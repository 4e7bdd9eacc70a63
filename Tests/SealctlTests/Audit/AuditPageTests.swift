import TestSupport
import Testing

/// Tests of the page in a real browser: its script runs under its own policy, and screenshots show every form.
@Suite(.enabled(if: Browser.path != nil, "no chromium is installed"), .serialized)
struct AuditPageTests {
    private static func page(_ report: HandReport) throws -> Browser {
        let sandbox = try Sandbox()
        try sandbox.file("report.json", try report.json())
        _ = try sandbox.sealctl(["audit", "--from", "report.json", "-f", "html", "-o", "page.html", "-q"])
        return Browser(sandbox: sandbox)
    }

    @Test func theScriptRunsUnderThePagesPolicy() throws {
        let browser = try Self.page(.usual)
        let document = try browser.document("page.html")
        #expect(document.contains("5 findings</output>"))
        #expect(document.contains("<form class=\"filter\" id=\"filter\">"), "the filter is still hidden")
    }

    /// A file name that was not escaped would run here.
    @Test func nothingElseRuns() throws {
        let browser = try Self.page(.hostile)
        let document = try browser.document("page.html")
        #expect(document.contains("\(HandReport.hostileTexts.count) findings</output>"))
        #expect(!document.contains("<img") && !document.contains("<b>\"&amp;'"))
    }

    @Test(arguments: [
        ("light", "1280,1600", "--blink-settings=preferredColorScheme=1"),
        ("dark", "1280,1600", "--blink-settings=preferredColorScheme=0"), ("narrow", "500,1600", "--hide-scrollbars"),
    ])
    func itCanBeLookedAt(name: String, size: String, option: String) throws {
        let browser = try Self.page(.usual)
        try browser.run(["--screenshot=\(name).png", "--window-size=\(size)", option], "page.html")
        let image = try SystemFile.read(browser.sandbox.path("files/\(name).png"))
        #expect(image.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(Self.width(of: image) == Int(size.prefix { $0 != "," }))
        // An empty page of that size has a tenth of these bytes.
        #expect(image.count > 30_000)
    }

    @Test func itCanBePrinted() throws {
        let browser = try Self.page(.usual)
        try browser.run(["--print-to-pdf=page.pdf", "--no-pdf-header-footer"], "page.html")
        let document = try SystemFile.read(browser.sandbox.path("files/page.pdf"))
        #expect(document.starts(with: Array("%PDF-".utf8)) && document.count > 10_000)
    }

    private static func width(of image: [UInt8]) -> Int { image[16..<20].reduce(0) { $0 << 8 | Int($1) } }
}

/// Chromium without a window.
struct Browser {
    static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].first {
        SystemFile.exists($0)
    }

    /// The directory of the page and of everything that the browser writes.
    let sandbox: Sandbox
    private var directory: String { sandbox.path("files") }

    /// Returns the page's document after its script has run.
    func document(_ page: String) throws -> String { try run(["--dump-dom"], page).outputText }

    @discardableResult
    func run(_ options: [String], _ page: String) throws -> ChildResult {
        let fixed = [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--user-data-dir=\(directory)/profile",
        ]
        let result = try ChildProcess.run(
            try #require(Self.path), fixed + options + ["file://\(directory)/\(page)"], directory: directory)
        guard result.exitCode == 0 else { throw Unexpected(result) }
        return result
    }
}
