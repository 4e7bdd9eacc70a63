internal import AuditReports
internal import FoundationEssentials
internal import Glibc
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// The keys of blobs and programs, for people and programs.
struct RotationStatusView {
    /// The number of blobs of a key that are listed for people. Programs get all of them.
    private static let named = 10

    let status: RotationStatus
    /// The largest number of bytes that a rotation needs at any time.
    let neededBytes: Int64

    var text: String {
        let parts = [head, table] + status.keys.filter { $0.state == .decryptOnly }.map(details) + [unknown]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private var head: String {
        var fields = FieldList([("rotation", rotation)])
        fields.add("active epoch", status.activeEpoch.map { String($0) } ?? "none")
        fields.add("needs", "\(neededBytes) bytes of free space")
        if status.minimumEpoch > 1 { fields.add("refused", "blobs before epoch \(status.minimumEpoch)") }
        return fields.text
    }

    private var rotation: String {
        if status.isRotating {
            return "in progress since \(Self.time(status.began)); sealctl vault rotate continues it"
        }
        return status.completed == nil ? "none yet" : "completed \(Self.time(status.completed))"
    }

    private static func time(_ date: Date?) -> String { date.map { Timestamp($0).short } ?? "-" }

    private var table: String {
        var table = TextTable([
            .init(title: "EPOCH", isNumber: true), .init(title: "STATE"), .init(title: "PROTECTED"),
            .init(title: "BLOBS", isNumber: true),
            .init(title: "PROGRAMS", isNumber: true), .init(title: "DESTROY"), .init(title: "KEY"),
        ])
        for key in status.keys {
            table.add([
                String(key.epoch), key.state == .decryptOnly ? "decrypt-only" : key.state.rawValue,
                key.protection.words, String(key.blobCount), String(HolderView.others(key.holders).count),
                key.state == .destroyed ? "-" : key.mayBeDestroyed ? "may go" : "no", key.id,
            ])
        }
        return table.text
    }

    private func details(_ key: KeyUse) -> String {
        let reasons = key.obstacles.map { "epoch \(key.epoch): \($0.description)" }
        let more = key.blobCount > Self.named ? ["  and \(key.blobCount - Self.named) more"] : []
        return (reasons + key.blobs.prefix(Self.named).map { "  \($0.printable)" } + more).joined(separator: "\n")
    }

    private var unknown: String {
        status.unknown.map { "unknown  \($0.path): \($0.reason)".printable }.joined(separator: "\n")
    }

    var json: JSONText {
        .object([
            ("rotating", .bool(status.isRotating)), ("neededBytes", .unsigned(UInt64(clamping: neededBytes))),
            ("began", .optional(status.began.map { Timestamp($0).rfc3339 })),
            ("completed", .optional(status.completed.map { Timestamp($0).rfc3339 })),
            ("activeEpoch", status.activeEpoch.map { .unsigned(UInt64($0)) } ?? .null),
            ("minimumEpoch", .unsigned(UInt64(status.minimumEpoch))), ("keys", .array(status.keys.map(Self.key))),
            ("unknown", .array(status.unknown.map { SkippedBlobView(blob: $0).json })),
        ])
    }

    private static func key(_ key: KeyUse) -> JSONText {
        .object([
            ("id", .string(key.id)), ("epoch", .unsigned(UInt64(key.epoch))), ("state", .string(key.state.rawValue)),
            ("protection", .string(key.protection.word)),
            ("createdAt", .string(Timestamp(key.created).rfc3339)), ("blobCount", .number(key.blobCount)),
            ("blobs", .array(key.blobs.map { .string($0) })),
            ("holders", .array(HolderView.others(key.holders).map { HolderView(holder: $0).json })),
            ("obstacles", .array(key.obstacles.map { .string(word($0)) })),
            ("mayBeDestroyed", .bool(key.mayBeDestroyed)),
        ])
    }

    /// Returns a stable word. The descriptions are for people.
    private static func word(_ obstacle: KeyObstacle) -> String {
        switch obstacle {
        case .active: "active"
        case .rotationNotCompleted: "rotationNotCompleted"
        case .blobs(_, isInQuarantine: true): "quarantine"
        case .blobs: "blobs"
        case .trashed: "trash"
        case .lockedBlobs: "lockedBlobs"
        case .programs: "programs"
        case .unnamedProgram: "unnamedProgram"
        case .programsUnknown: "programsUnknown"
        case .unknownFiles: "unknownFiles"
        }
    }
}

/// The result of a rotation, for people and programs.
struct RotationReportView {
    let report: RotationReport

    var text: String {
        let done = "\(report.resealed) \(report.resealed == 1 ? "blob" : "blobs") resealed"
        let head = report.isCompleted ? "rotated to epoch \(report.epoch)" : "rotating to epoch \(report.epoch)"
        let left = report.left.map { "left  \($0.path): \($0.reason)".printable }
        return (["\(head), \(done)"] + left + HolderView.lines(report.holders)).joined(separator: "\n")
    }

    var json: JSONText {
        .object([
            ("epoch", .unsigned(UInt64(report.epoch))), ("completed", .bool(report.isCompleted)),
            ("walks", .number(report.passes)), ("resealed", .number(report.resealed)),
            ("bytes", .unsigned(UInt64(clamping: report.bytes))),
            ("left", .array(report.left.map { SkippedBlobView(blob: $0).json })),
            ("holders", .array(HolderView.others(report.holders).map { HolderView(holder: $0).json })),
        ])
    }
}

/// A sealed file that remains unchanged.
struct SkippedBlobView {
    let blob: SkippedBlob

    var json: JSONText {
        .object([
            ("path", .string(blob.path)), ("code", .string(blob.code.rawValue)), ("reason", .string(blob.reason)),
            ("epoch", blob.epoch.map { .unsigned(UInt64($0)) } ?? .null), ("blocking", .bool(blob.isBlocking)),
        ])
    }
}

/// A program that holds a key of an epoch.
struct HolderView {
    let holder: EpochHolder

    /// Returns the holders without this program, which has the vault open during the check.
    static func others(_ holders: [EpochHolder]) -> [EpochHolder] { holders.filter { $0.pid != getpid() } }

    static func lines(_ holders: [EpochHolder]) -> [String] {
        others(holders).map { holder in
            let name = holder.executable.isEmpty ? "?" : holder.executable.printable
            return "held by process \(holder.pid) (\(name)), epoch \(holder.epoch)"
        }
    }

    var json: JSONText {
        .object([
            ("pid", .number(Int(holder.pid))), ("epoch", .unsigned(UInt64(holder.epoch))),
            ("executable", .string(holder.executable)),
        ])
    }
}
