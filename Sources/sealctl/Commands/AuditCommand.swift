internal import AppGroups
internal import ArgumentParser
internal import ContainerAudit
internal import FoundationEssentials
internal import KeyVault
internal import SharedFiles

/// `sealctl audit`: what lies in a container and what is wrong with it.
struct AuditCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Say what lies in a container and what is wrong with it.",
        discussion: """
            With a group, its vault opens every sealed blob; with a PATH, any directory is looked at without keys. \
            Nothing is changed. Exit status 1 says that there is something to mend.

            Examples:
              sealctl audit --group group.com.example.app
              sealctl audit --json ~/old-container
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "A directory to look at instead of a group's container.", completion: .directory)
    var path: String?
    @OptionGroup var keyOptions: KeyOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if path != nil, groupOptions.group != nil {
            throw ValidationError("Give a PATH or --group, not both.")
        }
    }

    func perform() throws(Failure) {
        let report = try audit()
        try StandardStreams.print(output.json ? try json(report) : AuditText(report).text)
        if !report.isClean { throw Findings.failure }
    }

    private func audit() throws(Failure) -> AuditReport {
        if let path {
            do throws(AuditError) { return try ContainerAuditor().audit(path: path) } catch { throw Failure(error) }
        }
        let group = try groupOptions.appGroup()
        let credential = try keyOptions.stated(for: group)
        let home = try GroupOptions.home()
        do throws(AuditError) {
            guard let credential else { return try ContainerAuditor().audit(group: group, in: home) }
            return try ContainerAuditor().audit(group: group, in: home, credential: credential)
        } catch { throw Failure(error) }
    }

    private func json(_ report: AuditReport) throws(Failure) -> String {
        do { return String(decoding: try report.json(), as: UTF8.self) } catch {
            throw Failure(.internalError, "unencodable", "the report could not be written as JSON", hint: "Report it.")
        }
    }

    private enum Findings {
        /// The report has said it all.
        static let failure = Failure(.findings, "findings", "there are findings", hint: "", isSilent: true)
    }
}

/// The report for people.
private struct AuditText {
    let report: AuditReport

    init(_ report: AuditReport) { self.report = report }

    var text: String {
        let head = "\(report.containerPath.printable)\(report.withKeys ? "" : " (without keys)")"
        // Where nothing was found, the first note stands in that line.
        let notes = isUnopened ? report.notes.dropFirst() : report.notes[...]
        let parts = [head, files, findings] + notes.map { "note: \($0)" }
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    /// Blobs that nobody opened are no clean ones.
    private var isUnopened: Bool { !report.withKeys && report.findings.isEmpty }

    private var reason: String {
        guard let note = report.notes.first else { return "there were no keys" }
        if report.group == nil { return "no group was named" }
        let mark = "blobs were not opened: "
        guard let start = note.firstRange(of: mark)?.upperBound else { return note }
        return String(note[start...])
    }

    private var files: String {
        guard !report.files.isEmpty else { return "no files" }
        var table = TextTable([
            .init(title: "KIND"), .init(title: "SIZE", isNumber: true), .init(title: "MODE"), .init(title: "VERDICT"),
            .init(title: "PATH"),
        ])
        for file in report.files {
            let mode = file.mode.map { String($0, radix: 8) } ?? "-"
            table.add([
                file.kind.description, String(file.size), String(repeating: "0", count: max(0, 4 - mode.count)) + mode,
                file.verdict?.description ?? "-", file.path,
            ])
        }
        return table.text
    }

    private var findings: String {
        if isUnopened { return "nothing found; sealed blobs were not opened: \(reason)" }
        guard !report.findings.isEmpty else { return "no findings" }
        let lines = report.findings.map { finding in
            "\(finding.severity)  \(finding.id)  \(finding.path)\n  \(finding.detail)\n  \(finding.remedy)"
        }
        let count = report.findings.count
        return "\(count) finding\(count == 1 ? "" : "s")\n\n" + lines.joined(separator: "\n\n")
    }
}
