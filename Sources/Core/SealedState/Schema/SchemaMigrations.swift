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
