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
