/// One thing that is known of a record's past.
struct HistoryEvent {
    enum Kind: String {
        /// What a read finds now.
        case present
        /// The highest state that this user's programs have accepted; when is not kept.
        case accepted
        /// The present value was sealed.
        case written
        /// The present deletion was sealed.
        case deleted
        /// The present value was sealed under another key since it was written; the time is that of the key.
        case resealed
        /// A rotation was completed since the present value was written.
        case rotated
        /// The present value stops, or has stopped, being valid.
        case expires
        /// A blob was refused and kept in quarantine.
        case quarantined
        /// A blob was set aside with its vault.
        case abandoned
    }

    let kind: Kind
    /// Nil where it is not known, and for the present.
    var time: Timestamp?
    var sequence: UInt64?
    var epoch: UInt32?
    var detail = ""
    /// Of a kept copy, below the container.
    var path: String?

    var cells: [String] {
        [
            time?.short ?? "-", kind.rawValue, sequence.map { String($0) } ?? "-", epoch.map { String($0) } ?? "-",
            [detail, path].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "; "),
        ]
    }

    var json: JSONText {
        .object([
            ("event", .string(kind.rawValue)), ("time", .optional(time?.rfc3339)),
            ("sequence", sequence.map { .unsigned($0) } ?? .null),
            ("epoch", epoch.map { .unsigned(UInt64($0)) } ?? .null), ("detail", .string(detail)),
            ("path", .optional(path)),
        ])
    }
}
