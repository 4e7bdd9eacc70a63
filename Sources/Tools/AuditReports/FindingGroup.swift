internal import ContainerAudit

/// The findings of one file.
struct FindingGroup {
    let path: String
    /// The findings, the most severe first.
    let findings: [Finding]

    /// Returns the findings by file, in the order of each file's most severe finding.
    static func all(in findings: [Finding]) -> [FindingGroup] {
        var order: [String] = []
        var byPath: [String: [Finding]] = [:]
        for finding in findings {
            if byPath[finding.path] == nil { order.append(finding.path) }
            byPath[finding.path, default: []].append(finding)
        }
        return order.map { FindingGroup(path: $0, findings: byPath[$0] ?? []) }
    }
}

extension FindingGroup {
    /// The blocks of neighbouring findings that differ only in their places.
    var blocks: [FindingBlock] {
        findings.reduce(into: []) { blocks, finding in
            if let last = blocks.last, last.first.isAlike(finding) {
                blocks[blocks.count - 1].findings.append(finding)
            } else {
                blocks.append(FindingBlock(first: finding, findings: [finding]))
            }
        }
    }
}

/// Findings of one file that differ only in their places.
struct FindingBlock {
    let first: Finding
    var findings: [Finding]
}

extension Finding {
    fileprivate func isAlike(_ other: Finding) -> Bool {
        (id, severity, detail, remedy) == (other.id, other.severity, other.detail, other.remedy)
    }
}

/// The files of one kind and their findings.
struct KindSummary {
    let total: KindTotal
    var findings = 0
    var worst: Severity?
    var verified = 0
    var unverified = 0
    var refused = 0

    /// Returns every kind, the one with the most bytes first.
    static func all(of view: AuditView) -> [KindSummary] {
        var summaries = Dictionary(
            view.report.kinds.map { ($0.kind, KindSummary(total: $0)) }, uniquingKeysWith: { first, _ in first })
        var kinds: [String: FileClass] = [:]
        for file in view.report.files {
            kinds[file.path] = file.kind
            summaries[file.kind]?.count(file.verdict)
        }
        for finding in view.report.findings {
            guard let kind = kinds[finding.path] else { continue }
            summaries[kind]?.count(finding)
        }
        return view.report.kinds.compactMap { summaries[$0.kind] }
    }

    private mutating func count(_ finding: Finding) {
        findings += 1
        worst = max(worst ?? .info, finding.severity)
    }

    private mutating func count(_ verdict: Verdict?) {
        switch verdict {
        case .verified: verified += 1
        case .unverified: unverified += 1
        case .refused: refused += 1
        case nil: break
        }
    }

    /// The counts of verdicts, such as `3 verified, 1 refused`; empty for files that are not sealed.
    var verdicts: String {
        [(verified, "verified"), (unverified, "unverified"), (refused, "refused")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }

    /// Returns the summary as a row of the table.
    func cells(of bytes: Int64) -> [String] {
        let share = AuditView.share(of: total.bytes, in: bytes).map(ByteText.percent) ?? "-"
        return [
            total.kind.description, String(total.files), ByteText.text(total.bytes), share,
            findings == 0 ? "-" : String(findings), verdicts.isEmpty ? "-" : verdicts,
        ]
    }
}
