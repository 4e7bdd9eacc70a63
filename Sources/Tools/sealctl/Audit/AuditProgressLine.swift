internal import ContainerAudit

/// How far an audit is, on a terminal; the line goes when this does.
final class AuditProgressLine: Sendable {
    private let line = Progress("auditing:", total: nil)
    private let isQuiet = Talk.isQuiet

    func show(_ progress: AuditProgress) {
        guard !isQuiet else { return }
        let files = progress.totalFiles.map { "\(progress.files) of \($0) files" } ?? "\(progress.files) files"
        line.show("\(files), \(ByteText.text(progress.bytes)), \(FindingText.count(progress.findings, "finding"))")
    }
}
