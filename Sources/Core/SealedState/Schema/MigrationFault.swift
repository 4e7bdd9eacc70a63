/// Why an older value could not be brought to the present shape.
enum MigrationFault: Error, Hashable {
    /// A step threw. What it threw may hold contents and is not kept; a `ValidationFailure` names fields only.
    case step(from: Int, broken: ValidationFailure?)
    /// The steps do not follow each other.
    case gap(after: Int, next: Int)
    /// The last step does not lead to the present version.
    case end(last: Int, schemaVersion: Int)

    /// What went wrong, as a sentence.
    var reason: String {
        switch self {
        case .step(let version, let broken):
            "The step from schema version \(Self.text(version)) failed" + (broken.map { ": \($0)." } ?? ".")
        case .gap(let version, let next):
            "Its migrations are wrong: after the step from version \(version) comes one from \(next)."
        case .end(let last, let current):
            "Its migrations are wrong: the last step is from version \(Self.text(last)), and the type's version is "
                + "\(current)."
        }
    }

    /// What to do about it; nil for what holds for all of them.
    var advice: String? {
        switch self {
        case .step: nil
        case .gap(let version, let next):
            version < next && version < .max
                ? "Add the step from version \(version + 1)." : "Put the steps in the order of their versions."
        case .end(let last, let current):
            last < current && last < .max
                ? "Add the step from version \(last + 1), or correct schemaVersion."
                : "Raise schemaVersion to the version that the last step makes."
        }
    }

    /// A version and the one after it; no number comes after the largest.
    private static func text(_ version: Int) -> String {
        version == .max ? "\(version)" : "\(version) to \(version + 1)"
    }
}
