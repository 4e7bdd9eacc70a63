/// What a snapshot holds.
struct SnapshotReport {
    let group: String
    let isVerified: Bool
    let takenAt = Timestamp.now
    var files: [SnapshotFile] = []
    var leftOut: [(path: String, reason: String)] = []

    init(group: String, isVerified: Bool) {
        self.group = group
        self.isVerified = isVerified
    }

    private var records: Int { files.count { $0.record != nil } }
    private var refused: Int { files.count { $0.seal == .refused } }
    private var unsealed: Int { files.count { $0.seal == nil } }
    private var size: Int64 { files.reduce(0) { $0 + $1.size } }

    /// `manifest.json` of the snapshot.
    var manifest: JSONText {
        .object([
            ("format", .number(1)), ("group", .string(group)), ("takenAt", .string(takenAt.rfc3339)),
            ("isVerified", .bool(isVerified)), ("files", .array(files.map(\.json))),
            ("leftOut", .array(leftOut.map { .object([("path", .string($0.path)), ("reason", .string($0.reason))]) })),
        ])
    }

    /// What a person should know although the copy was made.
    var warnings: [Warning] {
        files.compactMap { file in
            if file.seal == .refused {
                return Warning(
                    "snapshotRefused",
                    "\(file.record ?? file.path) was copied as it is, and is refused: \(file.code ?? "?")",
                    hint: "See sealctl explain, and sealctl audit.")
            }
            guard !file.isSettled else { return nil }
            return Warning(
                "snapshotUnsettled",
                "\(file.path) was written while it was copied: the copy may be neither old nor new",
                hint: "Take the snapshot again while its program rests.")
        }
    }

    func text(at path: String) -> String {
        let others = files.count - records
        let parts = [
            "\(records) records", "\(others) other files", "\(size) bytes",
            isVerified ? refused == 0 ? "verified" : "\(refused) refused" : "not verified",
            unsealed == 0 ? nil : "\(unsealed) not sealed", leftOut.isEmpty ? nil : "\(leftOut.count) left out",
        ]
        return "\(path): " + parts.compactMap(\.self).joined(separator: ", ")
    }

    func json(at path: String) -> JSONText {
        .object([
            ("path", .string(path)), ("group", .string(group)), ("takenAt", .string(takenAt.rfc3339)),
            ("records", .number(records)), ("files", .number(files.count)), ("bytes", .number(Int(size))),
            ("isVerified", .bool(isVerified)), ("refused", .number(refused)), ("unsealed", .number(unsealed)),
            ("leftOut", .array(leftOut.map { .object([("path", .string($0.path)), ("reason", .string($0.reason))]) })),
        ])
    }
}
