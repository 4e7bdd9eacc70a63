internal import Glibc
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// What a rotation did, for people and programs.
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
            ("left", .array(report.left.map { LeftBlobView(blob: $0).json })),
            ("holders", .array(HolderView.others(report.holders).map { HolderView(holder: $0).json })),
        ])
    }
}

/// A sealed file that stays as it is.
struct LeftBlobView {
    let blob: LeftBlob

    var json: JSONText {
        .object([
            ("path", .string(blob.path)), ("code", .string(blob.code.rawValue)), ("reason", .string(blob.reason)),
            ("epoch", blob.epoch.map { .unsigned(UInt64($0)) } ?? .null), ("blocking", .bool(blob.isBlocking)),
        ])
    }
}

/// A program that holds an epoch.
struct HolderView {
    let holder: EpochHolder

    /// The holders without this program, which has the vault open as long as it looks.
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
