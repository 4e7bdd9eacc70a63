/// The steps from older versions of a record's shape to the present one, run on read.
///
/// Each step states its version and returns the next version's shape; the last returns the record. A migrated value is
/// never written back automatically: `update` and `write` write the present version.
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
/// Version 1 is decoded as `V1` and passes both steps; version 2 is decoded as `V2`, the result of the first step. A
/// step may throw; the read then fails with `.migrationFailed`, which states the versions, not the error that was
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
    ///   - step: Returns the next version's shape.
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
    ///   - step: Returns the record.
    public static func from<Old: Decodable & Sendable>(
        _ version: Int, _ type: Old.Type, _ step: @escaping @Sendable (Old) throws -> Record
    ) -> Self {
        Self(steps: SchemaSteps<Record, Old>().then(version, step))
    }

    /// The version of the oldest step; nil without steps.
    var oldest: Int? { steps?.paths.first?.version }

    /// Returns the conversion of a version's payload to the record; nil if no step begins at that version.
    func path(from version: Int) -> Path? { steps?.paths.first { $0.version == version }?.run }

    /// Returns `true` if a step begins at a version.
    package func hasStep(from version: Int) -> Bool { path(from: version) != nil }

    /// Returns the fault in the steps themselves.
    func fault(upTo schemaVersion: Int) -> MigrationFault? {
        guard let steps else { return nil }
        let versions = steps.paths.map(\.version)
        for (version, next) in zip(versions, versions.dropFirst()) where version == .max || next != version + 1 {
            return .gap(after: version, next: next)
        }
        // Never subtracts from the smallest number.
        guard let last = versions.last, schemaVersion == .min || last != schemaVersion - 1 else { return nil }
        return .end(last: last, schemaVersion: schemaVersion)
    }
}

/// Migration steps up to an intermediate shape; created by `SchemaMigrations.from`.
public struct SchemaSteps<Record: Decodable & Sendable, Current: Decodable & Sendable>: Sendable {
    /// The conversion of a version's payload to the current shape.
    struct Path: Sendable {
        let version: Int
        let run: @Sendable (RecordDecoding) throws -> Current
    }

    /// Oldest first. They are composed as the steps are added, so that each path has one type throughout.
    let paths: [Path]

    /// Creates an empty list of steps: the current shape is that of the first version.
    init() { paths = [] }

    private init(paths: [Path]) { self.paths = paths }

    /// The next step of several.
    ///
    /// - Parameters:
    ///   - version: The schema version that it takes, one more than the step before.
    ///   - step: Returns the next version's shape from the result of the step before.
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
    ///   - step: Returns the record from the result of the step before.
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

/// The reason why an older value could not be migrated.
enum MigrationFault: Error, Hashable {
    /// A step threw. Its error may hold contents and is not kept; a `ValidationFailure` names fields only.
    case step(from: Int, broken: ValidationFailure?)
    /// The steps do not follow each other.
    case gap(after: Int, next: Int)
    /// The last step does not lead to the present version.
    case end(last: Int, schemaVersion: Int)

    /// The fault, as a sentence.
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

    /// The advice; nil for the code's own.
    var advice: String? {
        switch self {
        case .step: nil
        case .gap(let version, let next):
            version < next && version < .max
                ? "Add the step from version \(version + 1)." : "Put the steps in the order of their versions."
        case .end(let last, let current):
            last < current && last < .max
                ? "Add the step from version \(last + 1), or correct schemaVersion."
                : "Raise schemaVersion to the version that the last step produces."
        }
    }

    /// Returns a version and the one after it; no number comes after the largest.
    private static func text(_ version: Int) -> String {
        version == .max ? "\(version)" : "\(version) to \(version + 1)"
    }
}

/// The schema versions that a blob's header can hold.
package enum SchemaVersion {
    /// Returns the number as a header holds it; nil for one out of range.
    package static func number(_ version: Int) -> UInt32? {
        UInt32(exactly: version).flatMap { $0 > 0 ? $0 : nil }
    }

    /// The advice for one out of range.
    package static let advice = "Correct schemaVersion: 1 to \(UInt32.max)."
}
