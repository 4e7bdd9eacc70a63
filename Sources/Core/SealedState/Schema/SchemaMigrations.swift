/// The steps from older versions of a record's shape to the present one, run on read.
///
/// Each step says which version it takes and makes the next one's shape of it; the last makes the record. What was read
/// is never written back unasked: `update` and `write` write the present version.
///
/// ```swift
/// struct Account: SealedRecord {
///     static let recordName = "account"
///     static let schemaVersion = 3
///     static var migrations: SchemaMigrations<Self> {
///         .from(1, V1.self) { V2(name: $0.name, roles: []) }
///             .then(2) { Account(name: $0.name, roles: Set($0.roles)) }
///     }
///     …
/// }
/// ```
///
/// Version 1 is decoded as `V1` and goes through both steps; version 2 is decoded as `V2`, which is what the first step
/// makes. A step may throw; the read then fails with `.migrationFailed`, which tells of the versions, not of what was
/// thrown (except a `ValidationFailure`).
public struct SchemaMigrations<Record: Decodable & Sendable>: Sendable {
    typealias Path = @Sendable (RecordDecoding) throws -> Record

    private let steps: SchemaSteps<Record, Record>?

    /// No older shape is known.
    public static var none: Self { Self(steps: nil) }

    init(steps: SchemaSteps<Record, Record>?) { self.steps = steps }

    /// The first step of several.
    ///
    /// - Parameters:
    ///   - version: The schema version that it takes.
    ///   - type: The shape of that version.
    ///   - step: Makes the next version's shape of it.
    public static func from<Old: Decodable & Sendable, Next: Decodable & Sendable>(
        _ version: Int, _ type: Old.Type, _ step: @escaping @Sendable (Old) throws -> Next
    ) -> SchemaSteps<Record, Next> {
        SchemaSteps<Record, Old>().then(version, step)
    }

    /// The only step.
    ///
    /// - Parameters:
    ///   - version: The schema version that it takes.
    ///   - type: The shape of that version.
    ///   - step: Makes the record of it.
    public static func from<Old: Decodable & Sendable>(
        _ version: Int, _ type: Old.Type, _ step: @escaping @Sendable (Old) throws -> Record
    ) -> Self {
        Self(steps: SchemaSteps<Record, Old>().then(version, step))
    }

    /// The oldest version that a step begins at; nil without steps.
    var oldest: Int? { steps?.paths.first?.version }

    /// How a payload of a version becomes the record; nil where no step begins at that version.
    func path(from version: Int) -> Path? { steps?.paths.first { $0.version == version }?.run }

    /// Whether a step begins at a version.
    package func hasStep(from version: Int) -> Bool { path(from: version) != nil }

    /// What is wrong with the steps themselves.
    func fault(upTo schemaVersion: Int) -> MigrationFault? {
        guard let steps else { return nil }
        let versions = steps.paths.map(\.version)
        for (version, next) in zip(versions, versions.dropFirst()) where version == .max || next != version + 1 {
            return .gap(after: version, next: next)
        }
        // Never one less than the smallest number.
        guard let last = versions.last, schemaVersion == .min || last != schemaVersion - 1 else { return nil }
        return .end(last: last, schemaVersion: schemaVersion)
    }
}

/// Steps of a record's migrations that lead to some shape so far; made by `SchemaMigrations.from`.
public struct SchemaSteps<Record: Decodable & Sendable, Current: Decodable & Sendable>: Sendable {
    /// From a version's payload to the current shape.
    struct Path: Sendable {
        let version: Int
        let run: @Sendable (RecordDecoding) throws -> Current
    }

    /// Oldest first. They are composed as the steps are added, so that each path is of one type throughout.
    let paths: [Path]

    /// Nothing done yet: the current shape is that of the first version.
    init() { paths = [] }

    private init(paths: [Path]) { self.paths = paths }

    /// The next step of several.
    ///
    /// - Parameters:
    ///   - version: The schema version that it takes, one more than the step before.
    ///   - step: Makes the next version's shape of what the step before made.
    public func then<Next: Decodable & Sendable>(
        _ version: Int, _ step: @escaping @Sendable (Current) throws -> Next
    ) -> SchemaSteps<Record, Next> {
        let checked = Self.step(from: version, step)
        let own = SchemaSteps<Record, Next>.Path(version: version) { try checked($0.decode(Current.self)) }
        let older = paths.map { path in
            SchemaSteps<Record, Next>.Path(version: path.version) { try checked(path.run($0)) }
        }
        return SchemaSteps<Record, Next>(paths: older + [own])
    }

    /// The last step.
    ///
    /// - Parameters:
    ///   - version: The schema version that it takes, one less than the type's.
    ///   - step: Makes the record of what the step before made.
    public func then(
        _ version: Int, _ step: @escaping @Sendable (Current) throws -> Record
    ) -> SchemaMigrations<Record> {
        SchemaMigrations(steps: then(version, step))
    }

    private static func step<Next>(
        from version: Int, _ step: @escaping @Sendable (Current) throws -> Next
    ) -> @Sendable (Current) throws -> Next {
        { value in
            do { return try step(value) } catch {
                throw MigrationFault.step(from: version, broken: error as? ValidationFailure)
            }
        }
    }
}

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

/// The schema versions that a blob's header can hold.
package enum SchemaVersion {
    /// The number as a header holds it; nil for one out of range.
    package static func number(_ version: Int) -> UInt32? {
        UInt32(exactly: version).flatMap { $0 > 0 ? $0 : nil }
    }

    /// What to do about one out of range.
    package static let advice = "Correct schemaVersion: 1 to \(UInt32.max)."
}
