/// How much a finding matters; the words are those of SARIF's levels.
public enum FindingSeverity: String, Sendable, Hashable, CaseIterable, Comparable, CustomStringConvertible {
    /// Worth knowing; often on purpose.
    case note
    /// Most likely a mistake: programs will not see what they expect.
    case warning
    /// It does not work: signing, installing or sharing fails.
    case error

    /// The word.
    public var description: String { rawValue }

    private var rank: Int {
        switch self {
        case .note: 0
        case .warning: 1
        case .error: 2
        }
    }

    /// By how much it matters.
    public static func < (first: Self, second: Self) -> Bool { first.rank < second.rank }
}
