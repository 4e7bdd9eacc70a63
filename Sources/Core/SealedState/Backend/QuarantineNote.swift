internal import AppGroups
internal import FoundationEssentials
internal import SharedFiles

/// The note beside a kept blob: why it was refused, and when. Plain text, without contents.
package enum QuarantineNote {
    /// Ends the note's file name, behind the blob's whole name.
    package static let suffix = ".reason"
    /// No note is longer, in bytes.
    package static let maximumSize = 2048
    /// What every note begins with.
    private static let title = "Refused by SealedState"

    static func text(record: String, reason: String, at time: Date) -> String {
        let lines = [
            title, "record: \(record)", "time: \(DateText.string(from: time) ?? "unknown")",
            "reason: \(reason.printable)",
        ]
        return String(decoding: lines.joined(separator: "\n").utf8.prefix(maximumSize - 1), as: UTF8.self) + "\n"
    }

    /// Whether a file in a container is such a note, by its path and its first bytes.
    package static func isNote(path: String, size: Int64, head: [UInt8]) -> Bool {
        path.hasPrefix(ContainerLayout.quarantine + "/") && path.hasSuffix(ContainerLayout.recordSuffix + suffix)
            && size <= maximumSize && head.starts(with: title.utf8)
    }
}
