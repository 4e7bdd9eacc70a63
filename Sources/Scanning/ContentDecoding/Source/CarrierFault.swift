/// Why a carrier, or the rest of it, was not read. It tells of the structure, never of the contents.
package enum CarrierFault: Error, Hashable, Sendable {
    /// The system refused to read; its message.
    case unreadable(String)
    /// Not what its first bytes say; what is wrong, without an end mark.
    case malformed(String)
    /// Encrypted, or of a form that nobody described; what, without an end mark.
    case unsupported(String)
    /// A bound of the budget was reached.
    case exhausted(Bound)

    /// Somebody cut the file after it was opened.
    package static let cut = CarrierFault.unreadable("It became shorter while it was read.")

    /// What an audit of one file may cost.
    package enum Bound: String, Hashable, Sendable {
        case depth, values, inflated, time
    }

    /// What is wrong, as a sentence.
    package var reason: String {
        switch self {
        case .unreadable(let message): message
        case .malformed(let what): "It is damaged: \(what)."
        case .unsupported(let what): "It was not read: \(what)."
        case .exhausted(.depth): "It is nested deeper than this audit goes."
        case .exhausted(.values): "It has more values than this audit looks at."
        case .exhausted(.inflated): "It expands to more bytes than this audit looks at."
        case .exhausted(.time): "It takes longer than this audit gives one file."
        }
    }
}
