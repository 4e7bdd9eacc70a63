internal import ContainerAudit
internal import FoundationEssentials

/// A report that an earlier run wrote, to be shown in another form.
enum StoredReport {
    private static let limit = 1 << 30

    static func read(_ path: String) throws(Failure) -> AuditJob.Result {
        let bytes = try SmallFile.read(path, limit: limit)
        guard let report = try? AuditReport(json: Data(bytes)) else {
            throw Failure(
                .dataError, "notAReport", "\(path) is no report of an audit",
                hint: "Name what sealctl audit -f json has written.")
        }
        return AuditJob.Result(report: report, notes: [])
    }
}
