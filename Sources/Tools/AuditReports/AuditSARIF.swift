internal import ContainerAudit
internal import SystemPackage

/// The findings in SARIF, for code hosts.
struct AuditSARIF {
    /// The largest number of results. GitHub refuses more than 25,000 results of a run and shows 5,000.
    private static let limit = 5000

    private let view: AuditView
    private let paths: SARIFPaths

    init(_ view: AuditView) {
        self.view = view
        paths = SARIFPaths(root: view.report.containerPath)
    }

    func write(to sink: any ReportSink) {
        SARIFReport(
            rules: rules, results: results, notes: notes, root: paths.base,
            times: (Timestamp(view.report.auditedAt).rfc3339, Timestamp(view.report.finishedAt).rfc3339),
            category: "sealctl/audit/"
        ).write(to: sink)
    }

    private var notes: [String] {
        let beyond = view.findings.count - Self.limit
        return view.notes
            + (beyond > 0
                ? ["\(FindingText.count(beyond, "finding")) after the first \(Self.limit) omitted."] : [])
    }

    /// The rules of this version, and the rules of findings from another version.
    private var rules: [SARIFRule] {
        var seen: Set<String> = []
        let foreign = view.findings.filter { AuditCheck.named($0.id) == nil && seen.insert($0.id).inserted }
        return AuditCheck.all.map(Self.rule) + foreign.map(Self.rule)
    }

    private static func rule(_ check: AuditCheck) -> SARIFRule {
        SARIFRule(
            id: check.id, name: check.id, level: level(check.severity), title: check.title, meaning: check.meaning,
            remedy: check.remedyText, securitySeverity: check.severity.securitySeverity, tags: tags(check.references),
            helpURI: MASReference.uri(check.references))
    }

    private static func rule(_ finding: Finding) -> SARIFRule {
        SARIFRule(
            id: finding.id, name: finding.id, level: level(finding.severity), title: finding.title,
            meaning: finding.title + ".", remedy: "See the finding.",
            securitySeverity: finding.severity.securitySeverity, tags: tags(finding.references),
            helpURI: MASReference.uri(finding.references))
    }

    private static func tags(_ references: [String]) -> [String] { ["security"] + references }

    private var results: [SARIFResult] {
        var counts: [String: Int] = [:]
        return view.findings.prefix(Self.limit).map { finding in
            let identity = [finding.id, finding.path, finding.location?.place ?? ""].joined(separator: "|")
            let ordinal = counts[identity, default: 0]
            counts[identity] = ordinal + 1
            return result(finding, ordinal == 0 ? identity : "\(identity)|\(ordinal)")
        }
    }

    /// - Parameter identity: An identifier that is the same on every machine, unlike the finding's own fingerprint.
    private func result(_ finding: Finding, _ identity: String) -> SARIFResult {
        SARIFResult(
            rule: finding.id, level: Self.level(finding.severity),
            message: "\(FindingText.message(finding)) \(finding.remedy)", path: paths.path(finding.path),
            line: finding.location?.line, column: finding.location?.column, bytes: finding.location.flatMap(Self.bytes),
            place: finding.location?.place, fingerprint: identity, isNew: view.hasBaseline ? true : nil,
            properties: Self.properties(finding))
    }

    private static func bytes(_ location: FindingLocation) -> Range<Int64>? {
        guard let offset = location.offset, let length = location.length, offset >= 0, length >= 0 else { return nil }
        let (end, overflows) = offset.addingReportingOverflow(length)
        return overflows ? nil : offset..<end
    }

    private static func properties(_ finding: Finding) -> [(String, String)] {
        [("severity", finding.severity.rawValue), ("confidence", finding.confidence.rawValue)]
            + (finding.fingerprint.map { [("fingerprint", $0)] } ?? [])
    }

    private static func level(_ severity: Severity) -> SARIFLevel {
        switch severity {
        case .info, .low: .note
        case .medium: .warning
        case .high, .critical: .error
        }
    }
}

/// The directory that the paths of a SARIF report are relative to. This is the current directory if it contains the
/// audited one, because hosts take it for the root of the checked-out source. Otherwise it is the audited directory.
struct SARIFPaths {
    /// The absolute path of the directory.
    let base: String
    /// The path from the base to the audited directory; empty if they are the same.
    private let prefix: String

    /// - Parameter root: The audited directory as the report contains it.
    init(root: String) {
        let root = FilePath(WorkingDirectory.absolute(SARIFPath.original(root))).lexicallyNormalized().string
        let here = WorkingDirectory.absolute(".")
        let directory = here.hasSuffix("/") ? here : here + "/"
        if root == here || root.hasPrefix(directory) {
            base = here
            prefix = root == here ? "" : String(root.dropFirst(directory.utf8.count))
        } else {
            base = root
            prefix = ""
        }
    }

    /// Returns the path of a finding below the base, or the absolute path of a file outside the base.
    func path(_ printed: String) -> String {
        let path = SARIFPath.original(printed)
        if path.hasPrefix("/") || prefix.isEmpty { return path }
        return path == "." ? prefix : "\(prefix)/\(path)"
    }
}

/// The web pages of the OWASP MASVS controls.
enum MASReference {
    /// Returns the page of the first reference that has one, or `nil`.
    static func uri(_ references: [String]) -> String? { references.lazy.compactMap(uri).first }

    /// Returns the page of a control.
    static func uri(_ reference: String) -> String? {
        guard reference.hasPrefix("MASVS-"), reference.utf8.allSatisfy(isPlain) else { return nil }
        return "https://mas.owasp.org/MASVS/controls/\(reference)/"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "-")
    }
}
