internal import AppGroups
internal import ArgumentParser
internal import SealedBackends
internal import SealedState

#if SQLite
internal import SealedStateSQLite
#endif

/// A backend of records, by its name on the command line.
enum KnownBackend: String, ExpressibleByArgument, CaseIterable {
    case files, sqlite

    /// The backend that this program has besides files.
    static var provider: (any BackendProvider)? {
        #if SQLite
        SQLiteProvider()
        #else
        nil
        #endif
    }

    /// The provider of a backend; nil for files.
    ///
    /// - Throws: `Failure` if the program was built without it.
    func provider() throws(Failure) -> (any BackendProvider)? {
        guard self != .files else { return nil }
        guard let provider = Self.provider else {
            throw Failure(
                .configuration, StoreError.Code.backendUnknown.rawValue, "this sealctl was built without SQLite",
                hint: "Build it with the package trait SQLite.")
        }
        return provider
    }

    /// Returns the backend of a container, opened without keys; nil for files.
    static func open(of container: GroupContainer) throws(Failure) -> (any SealedBackend)? {
        try Failure.onStore { () throws(StoreError) in try ContainerBackend.open(of: container, provider) }
    }
}

extension Failure {
    static func onBackend<Result>(
        _ operation: String, _ subject: String, _ body: () throws(BackendError) -> Result
    ) throws(Failure) -> Result {
        try onStore { () throws(StoreError) in try StoreError.onBackend(operation, subject, body) }
    }
}
