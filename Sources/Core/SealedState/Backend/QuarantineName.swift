internal import AppGroups
internal import SharedFiles

/// The name under which a refused blob is kept: the record's, then which file it was.
///
/// `accounts+ada.<inode>-<modified>.sealed`, both numbers hexadecimal: the same file gets the same name however often it is
/// refused.
struct QuarantineName {
    /// No more than that many blobs of one record are kept.
    static let maximumPerRecord = 64
    /// How much of a record's name is in it.
    private static let maximumRecordPart = 120

    private let record: String
    private let file: String

    init(of name: RecordName, _ attributes: FileAttributes) {
        record = String(name.text.split(separator: "/").joined(separator: "+").suffix(Self.maximumRecordPart))
        file = "\(String(attributes.inode, radix: 16))-\(String(attributes.modifiedNanoseconds, radix: 16))"
    }

    /// The blob's path in the container.
    var path: String { "\(ContainerLayout.quarantine)/\(record).\(file)\(ContainerLayout.recordSuffix)" }

    /// The note's path in the container.
    var notePath: String { path + QuarantineNote.suffix }

    /// Whether a name in quarantine is that of a blob of the same record.
    func isOfSameRecord(_ leaf: String) -> Bool {
        guard leaf.hasPrefix(record + "."), leaf.hasSuffix(ContainerLayout.recordSuffix) else { return false }
        // Records may have dots in their names: of `a.b` and `a` only the second part tells which it is.
        let rest = leaf.dropFirst(record.count + 1).dropLast(ContainerLayout.recordSuffix.count)
        return rest.allSatisfy { $0.isHexDigit || $0 == "-" } && rest.contains("-")
    }
}
