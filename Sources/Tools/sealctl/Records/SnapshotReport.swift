internal import AuditReports
internal import SealedState
internal import SharedFiles

/// The contents of a snapshot.
struct SnapshotReport {
    let group: String
    let isVerified: Bool
    let takenAt = Timestamp.now
    var files: [SnapshotFile] = []
    /// The number of records in the container's database, and those of them that are not verified.
    private var countInDatabase = 0
    private var unverifiedInDatabase: [SnapshotFile] = []
    /// The sealed files whose contents are missing or refused.
    var refusedContents: [SealedStore.RefusedContents] = []
    /// The paths that were looked at.
    var visited: Set<String> = []
    var leftOut: [(path: String, reason: String)] = []
    /// Files that belong into the copy and are missing, with their errors.
    private var unreadable: [(path: String, error: FileError)] = []

    init(group: String, isVerified: Bool) {
        self.group = group
        self.isVerified = isVerified
    }

    mutating func addInDatabase(_ record: SnapshotFile) {
        countInDatabase += 1
        if record.seal == .refused || record.seal == .locked { unverifiedInDatabase.append(record) }
    }

    mutating func leaveOut(_ path: String, _ error: FileError) {
        leftOut.append((path, error.code.rawValue))
        unreadable.append((path, error))
    }

    /// The failure that ends the command although the copy was written; `nil` if the copy is complete.
    var failure: Failure? {
        guard let first = unreadable.first else { return nil }
        let cause = Failure(first.error)
        let count = unreadable.count == 1 ? "1 file is" : "\(unreadable.count) files are"
        return Failure(
            cause.status, cause.code, "the copy was written, but \(count) not in it: \(cause.message)",
            hint: "See leftOut in its manifest; take another snapshot as the user who owns all files.")
    }

    private var records: Int { files.count { $0.record != nil } + countInDatabase }
    private var refused: Int {
        (files + unverifiedInDatabase).count { $0.seal == .refused } + refusedContents.count
    }
    private var unsealed: Int { files.count { $0.seal == nil && !$0.isOfBackend } }
    private var size: Int64 { files.reduce(0) { $0 + $1.size } }

    /// `manifest.json` of the snapshot.
    var manifest: JSONText {
        .object([
            ("format", .number(1)), ("group", .string(group)), ("takenAt", .string(takenAt.rfc3339)),
            ("isVerified", .bool(isVerified)), ("files", .array(files.map(\.json))),
            ("recordsInDatabase", .number(countInDatabase)),
            ("unverifiedInDatabase", .array(unverifiedInDatabase.map(\.json))),
            ("leftOut", .array(leftOut.map { .object([("path", .string($0.path)), ("reason", .string($0.reason))]) })),
        ])
    }

    /// The warnings for a person about a copy that was made.
    var warnings: [Warning] {
        refusedContents.map { contents in
            Warning(
                "snapshotRefused",
                "the sealed file \(contents.name) was copied, but readers refuse it: \(contents.error.code.rawValue)",
                hint: "See sealctl file get, and sealctl audit.")
        } + fileWarnings
    }

    private var fileWarnings: [Warning] {
        (files + unverifiedInDatabase).compactMap { file in
            if file.seal == .refused {
                return Warning(
                    "snapshotRefused",
                    "\(file.record ?? file.path) was copied, but readers refuse it: \(file.code ?? "?")",
                    hint: "See sealctl explain, and sealctl audit.")
            }
            guard !file.isSettled else { return nil }
            return Warning(
                "snapshotUnsettled",
                "\(file.path) was written while it was copied: the copy may be a mixture of old and new, or lack the "
                    + "contents of a sealed file",
                hint: "Take the snapshot again while its program is not writing.")
        }
    }

    func text(at path: String) -> String {
        let others = files.count + countInDatabase - records
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
