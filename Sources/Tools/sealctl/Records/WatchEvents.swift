internal import SealedState

/// What has happened to a record, in a word.
enum WatchEvent: String, Sendable {
    /// A value that was there when the watching began.
    case present
    /// A new value.
    case written
    /// The same value, under another key.
    case resealed
    /// The value that was there before, which was something else in between: expired, locked, replaced by a refused blob.
    case valid
    case deleted
    case absent
    case locked
    case refused
    /// It could not be read, for a reason that says nothing about it.
    case failed
}

/// Tells what a change is, from what was shown of the record before.
struct WatchEvents {
    private var values: [String: Provenance] = [:]

    mutating func event(for change: RecordChange) -> WatchEvent {
        switch change.outcome {
        case .value(let provenance):
            defer { values[change.name] = provenance }
            return change.isInitial ? .present : Self.event(provenance, after: values[change.name])
        case .deleted(let provenance):
            values[change.name] = provenance
            return .deleted
        case .absent: return .absent
        case .rejected(let error):
            if error.code == .locked { return .locked }
            return error.isRejection || error.code == .invalidName ? .refused : .failed
        }
    }

    private static func event(_ new: Provenance, after old: Provenance?) -> WatchEvent {
        guard let old else { return .written }
        if old.sequence == new.sequence && old.epoch == new.epoch { return .valid }
        // A rotation keeps the time at which a value was sealed, to the millisecond.
        return new.epoch > old.epoch && old.sealedAt == new.sealedAt ? .resealed : .written
    }
}
