internal import AppGroups
package import FoundationEssentials
package import Sealing
internal import SharedFiles

/// A copy of a blob that was refused or given up, kept for diagnosis.
package struct QuarantinedCopy: Sendable {
    /// The path below the container.
    package let path: String
    /// The time of the copy; nil if it is unknown.
    package let keptAt: Date?
    /// The reason in the note beside the copy.
    package let reason: String?
    /// The header's unverified claims. Nil if it has no header.
    package let claimed: BlobHeader?
}

extension QuarantineNote {
    /// The fields of a note that could be read.
    struct Parsed {
        var record: String?
        var time: Date?
        var reason: String?
    }

    static func parse(_ bytes: [UInt8]) -> Parsed {
        var parsed = Parsed()
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let value = String(parts[1].drop { $0 == " " })
            switch parts[0] {
            case "record": parsed.record = value
            case "time": parsed.time = DateText.date(from: value)
            case "reason": parsed.reason = value
            default: break
            }
        }
        return parsed
    }
}

/// The name of a kept blob: the record's, then the file's identity.
///
/// `accounts+ada.<inode>-<modified>.sealed`, both numbers hexadecimal: the same file gets the same name for every
/// refusal.
struct QuarantineName {
    /// The maximum number of kept blobs of one record.
    static let maximumPerRecord = 64
    /// The maximum length of a record's name in it.
    private static let maximumRecordPart = 120

    private let record: String
    private let file: String

    init(of name: String, _ attributes: FileAttributes) {
        record = String(name.split(separator: "/").joined(separator: "+").suffix(Self.maximumRecordPart))
        file = "\(String(attributes.inode, radix: 16))-\(String(attributes.modifiedNanoseconds, radix: 16))"
    }

    /// The blob's path in the container.
    var path: String { "\(ContainerLayout.quarantine)/\(record).\(file)\(ContainerLayout.recordSuffix)" }

    /// The note's path in the container.
    var notePath: String { path + QuarantineNote.suffix }

    /// Returns `true` if a name in quarantine is that of a blob of the same record.
    func isOfSameRecord(_ leaf: String) -> Bool {
        guard leaf.hasPrefix(record + "."), leaf.hasSuffix(ContainerLayout.recordSuffix) else { return false }
        // Records may have dots in their names: only the second part distinguishes `a.b` from `a`.
        let rest = leaf.dropFirst(record.count + 1).dropLast(ContainerLayout.recordSuffix.count)
        return rest.allSatisfy { $0.isHexDigit || $0 == "-" } && rest.contains("-")
    }
}

/// The note beside a kept blob with the reason and time of its refusal. Plain text, without contents.
package enum QuarantineNote {
    /// The ending of the note's file name, after the blob's whole name.
    package static let suffix = ".reason"
    /// The maximum size of a note in bytes.
    package static let maximumSize = 2048
    /// The first line of every note.
    private static let title = "Refused by SealedState"

    static func text(record: String, reason: String, at time: Date) -> String {
        let lines = [
            title, "record: \(record)", "time: \(DateText.string(from: time) ?? "unknown")",
            "reason: \(reason.printable)",
        ]
        return String(decoding: lines.joined(separator: "\n").utf8.prefix(maximumSize - 1), as: UTF8.self) + "\n"
    }

    /// Returns `true` if a file in a container is such a note, by its path and its first bytes.
    package static func isNote(path: String, size: Int64, head: [UInt8]) -> Bool {
        path.hasPrefix(ContainerLayout.quarantine + "/") && path.hasSuffix(ContainerLayout.recordSuffix + suffix)
            && size <= maximumSize && head.starts(with: title.utf8)
    }
}
