/// What is known of the file that remembers accepted states.
public enum WatermarkCondition: Sendable, Hashable, CustomStringConvertible {
    /// There was none: this user's first contact with the group trusts what it finds.
    case firstContact
    /// It was read and every entry is authentic.
    case intact
    /// So many entries are, or were, not authentic; the others count. Told until a person accepts it
    /// (`sealctl vault accept`).
    case damaged(entries: Int)
    /// This user's programs have written it before, and it is gone or empty: what they accepted until then is forgotten.
    /// Told until a person accepts it (`sealctl vault accept`).
    case lost
    /// It could not be read, for that reason.
    case unreadable(String)
    /// The last state could not be remembered, for that reason; it holds within this process only.
    case notPersisted(String)

    /// One line for a person.
    public var description: String {
        switch self {
        case .firstContact: "first contact: nothing was accepted before"
        case .intact: "intact"
        case .damaged(let entries): "damaged: \(entries) entries are not authentic"
        case .lost: "lost: it was there before, and is gone"
        case .unreadable(let reason): "unreadable: \(reason)"
        case .notPersisted(let reason): "not persisted: \(reason)"
        }
    }
}
