/// How much a finding matters, from what is merely good to know to what has to be mended at once.
public enum Severity: String, Codable, Sendable, CaseIterable, Comparable, CustomStringConvertible {
    /// Good to know; a container with nothing else is clean.
    case info
    /// Untidy: it helps an attacker or a mistake a little.
    case low
    /// A protection is missing, and others still hold.
    case medium
    /// State can be read or changed by somebody who should not, or is being refused by its readers.
    case high
    /// Keys or secrets lie open, or somebody has tampered.
    case critical

    /// The word, as in JSON.
    public var description: String { rawValue }

    /// By weight.
    public static func < (a: Severity, b: Severity) -> Bool { a.weight < b.weight }

    private var weight: Int {
        switch self {
        case .info: 0
        case .low: 1
        case .medium: 2
        case .high: 3
        case .critical: 4
        }
    }

    /// One step up, at most `critical`.
    var raised: Severity { Self.allCases[min(weight + 1, Self.allCases.count - 1)] }

    /// One step down, at least `low`: lowering must not make a finding disappear from the count.
    var lowered: Severity { Self.allCases[max(weight - 1, 1)] }
}
