/// What is known of the file that remembers accepted states.
public enum WatermarkCondition: Sendable, Hashable, CustomStringConvertible {
    /// There was none: this user's first contact with the group trusts what it finds.
    case firstContact
    /// It was read and every entry is authentic.
    case intact
    /// So many entries are not authentic; the others count.
    case damaged(entries: Int)
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
        case .unreadable(let reason): "unreadable: \(reason)"
        case .notPersisted(let reason): "not persisted: \(reason)"
        }
    }
}
