internal import ContainerAudit
internal import FoundationEssentials

/// The findings as tests, for servers that show tests: each check is a class, each finding a failed test.
///
/// A check without findings is one test that passed, so a clean container has results too. A finding below the
/// threshold passes and keeps its message.
struct AuditJUnit {
    private let view: AuditView
    private let byCheck: [String: [Finding]]

    init(_ view: AuditView) {
        self.view = view
        byCheck = Dictionary(grouping: view.findings, by: \.id)
    }

    func write(to sink: any ReportSink) {
        let suites = suites
        sink.writeLine(#"<?xml version="1.0" encoding="UTF-8"?>"#)
        let cases = suites.flatMap(\.cases)
        sink.writeLine("<testsuites name=\"sealctl audit\"\(Self.counts(cases)) errors=\"0\"\(times)>")
        for suite in suites { write(suite, to: sink) }
        sink.writeLine("</testsuites>")
    }

    private func write(_ suite: Suite, to sink: any ReportSink) {
        let name = XMLText.escaped("\(view.report.containerPath): \(suite.name)")
        sink.writeLine(
            "  <testsuite name=\"\(name)\"\(Self.counts(suite.cases)) errors=\"0\" skipped=\"0\"\(times)>")
        for test in suite.cases { test.write(to: sink) }
        if !suite.notes.isEmpty {
            sink.writeLine("    <system-out>\(XMLText.escaped(suite.notes.joined(separator: " ")))</system-out>")
        }
        sink.writeLine("  </testsuite>")
    }

    /// The start of the audit, as `xs:dateTime`, and its duration in seconds. The duration of each suite is not known.
    private var times: String {
        let seconds = view.report.finishedAt.timeIntervalSince(view.report.auditedAt)
        let milliseconds = String(Int((seconds * 1000).rounded()) % 1000 + 1000).dropFirst()
        return " timestamp=\"\(Timestamp(view.report.auditedAt).rfc3339)\" time=\"\(Int(seconds)).\(milliseconds)\""
    }

    private static func counts(_ cases: [JUnitCase]) -> String {
        " tests=\"\(cases.count)\" failures=\"\(cases.count { $0.failure != nil })\""
    }
}

extension AuditJUnit {
    private struct Suite {
        let name: String
        var cases: [JUnitCase]
        var notes: [String] = []
    }

    private var suites: [Suite] {
        var suites = AuditCheck.families.map { family in
            Suite(name: family.title, cases: family.checks.flatMap { cases($0.id, $0.title) })
        }
        let foreign = Set(byCheck.keys).union(view.report.omissions.unlisted.map(\.id))
            .filter { AuditCheck.named($0) == nil }.sorted()
        if !foreign.isEmpty {
            suites.append(Suite(name: "Others", cases: foreign.flatMap { cases($0, $0) }))
        }
        if !suites.isEmpty { suites[0].notes = view.notes }
        return suites
    }

    private func cases(_ id: String, _ title: String) -> [JUnitCase] {
        var cases = (byCheck[id] ?? []).map(failed)
        for entry in view.report.omissions.unlisted where entry.id == id && entry.count > 0 {
            let message =
                entry.count == 1 ? "1 more finding is not listed." : "\(entry.count) more findings are not listed."
            let word = entry.severity.rawValue
            cases.append(
                JUnitCase(
                    check: id, name: "beyond the limit, \(word)",
                    failure: entry.severity >= view.threshold ? .init(word, message, message) : nil, output: nil))
        }
        return cases.isEmpty ? [JUnitCase(check: id, name: title, failure: nil, output: nil)] : cases
    }

    private func failed(_ finding: Finding) -> JUnitCase {
        let place = FindingText.place(finding)
        let text = "\(finding.title).\n\(finding.detail)\n\(finding.remedy)"
        let counts = finding.severity >= view.threshold
        return JUnitCase(
            check: finding.id, name: finding.path + (place.isEmpty ? "" : " \(place)"),
            failure: counts ? .init(finding.severity.rawValue, FindingText.message(finding), text) : nil,
            output: counts ? nil : "\(finding.severity): \(text)")
    }
}

/// A test case as JUnit's servers read it.
private struct JUnitCase {
    struct Problem {
        let type: String
        let message: String
        let text: String

        init(_ type: String, _ message: String, _ text: String) {
            self.type = type
            self.message = message
            self.text = text
        }
    }

    let check: String
    let name: String
    let failure: Problem?
    let output: String?

    func write(to sink: any ReportSink) {
        let head = "    <testcase classname=\"\(XMLText.escaped(check))\" name=\"\(XMLText.escaped(name))\" time=\"0\""
        if let failure {
            let message = XMLText.escaped(failure.message)
            sink.writeLine(head + ">")
            sink.writeLine(
                "      <failure type=\"\(failure.type)\" message=\"\(message)\">\(lines(failure.text))</failure>")
            sink.writeLine("    </testcase>")
        } else if let output {
            sink.writeLine("\(head)><system-out>\(lines(output))</system-out></testcase>")
        } else {
            sink.writeLine(head + "/>")
        }
    }

    /// Escapes text between tags, where line ends may remain as they are.
    private func lines(_ text: String) -> String {
        text.split(separator: "\n").map { XMLText.escaped(String($0)) }.joined(separator: "\n")
    }
}
