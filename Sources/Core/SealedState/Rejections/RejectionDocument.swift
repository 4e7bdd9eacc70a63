/// The tables of `docs/validation.md`, made from the sources themselves.
enum RejectionDocument {
    struct Table {
        /// The line that it stands behind.
        let start: String
        let markdown: String
    }

    /// The line that it stands before.
    static let end = "<!-- end -->"

    static var tables: [Table] {
        [Table(start: "<!-- checks -->", markdown: checks), Table(start: "<!-- rejections -->", markdown: rejections)]
    }

    private static var checks: String {
        let rows = ReadCheck.allCases.enumerated().map { index, check in
            let codes = StoreError.Code.rejections.filter { $0.check == check }.map { "`\($0.rawValue)`" }
            let tool = check.needsType ? "no" : "yes"
            return
                "| \(index + 1) | \(check.rawValue) | \(check.meaning) | \(codes.joined(separator: ", ")) | \(tool) |"
        }
        let head = ["| | check | what passes | rejections | without the type |", "| --- | --- | --- | --- | --- |"]
        return (head + rows).joined(separator: "\n")
    }

    private static var rejections: String {
        let rows = RejectionTable.entries.map { entry in
            let level = entry.traits.contains(.expected) ? "notice" : "warning"
            let copy = entry.traits.contains(.evidence) ? "yes" : "no"
            return "| `\(entry.code.rawValue)` | \(entry.explanation) | \(entry.advice) | \(copy) | \(level) |"
        }
        let head = ["| rejection | meaning | advice | quarantine | log |", "| --- | --- | --- | --- | --- |"]
        return (head + rows).joined(separator: "\n")
    }
}
