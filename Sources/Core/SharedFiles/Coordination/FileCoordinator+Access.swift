/// Accesses that block the calling thread until they are granted.
///
/// The accessor runs on that thread, once, and gets the place where the item is now: use that, not the path that was asked
/// for. When it returns the access is over. An accessor that fails with errors of its own answers a `Result`.
extension FileCoordinator {
    /// Reads one file or directory.
    ///
    /// - Parameter timeout: for presenters and locks together; zero tries the locks once. Presenters get 250 milliseconds even
    ///   where it is less: with none of them the access does not last longer than the limit.
    /// - Throws: ``FileError`` with `lockTimeout`, `presenterTimeout`, `presenterFailed`, `cancelled`, `invalidName`, what
    ///   the system gave, or what the accessor threw.
    public func coordinate<Value>(
        readingItemAt path: String, options: ReadingOptions = [], timeout: Duration = defaultTimeout,
        _ accessor: (String) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        try coordinate(with: [.reading(path, options: options)], timeout: timeout) { (paths) throws(FileError) in
            try accessor(paths[0])
        }
    }

    /// Writes, moves or deletes one file or directory; as for reading.
    public func coordinate<Value>(
        writingItemAt path: String, for purpose: WritingPurpose = .updating, timeout: Duration = defaultTimeout,
        _ accessor: (String) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        try coordinate(with: [.writing(path, for: purpose)], timeout: timeout) { (paths) throws(FileError) in
            try accessor(paths[0])
        }
    }

    /// Reads one item and writes another; as for reading.
    public func coordinate<Value>(
        readingItemAt source: String, options: ReadingOptions = [], writingItemAt target: String,
        for purpose: WritingPurpose = .updating, timeout: Duration = defaultTimeout,
        _ accessor: (String, String) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        let intents = [FileAccessIntent.reading(source, options: options), .writing(target, for: purpose)]
        return try coordinate(with: intents, timeout: timeout) { (paths) throws(FileError) in
            try accessor(paths[0], paths[1])
        }
    }

    /// Writes two items, such as a source `for: .moving` and its new place `for: .replacing`; as for reading.
    public func coordinate<Value>(
        writingItemAt first: String, for firstPurpose: WritingPurpose = .updating, writingItemAt second: String,
        for secondPurpose: WritingPurpose = .updating, timeout: Duration = defaultTimeout,
        _ accessor: (String, String) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        let intents = [FileAccessIntent.writing(first, for: firstPurpose), .writing(second, for: secondPurpose)]
        return try coordinate(with: intents, timeout: timeout) { (paths) throws(FileError) in
            try accessor(paths[0], paths[1])
        }
    }

    /// Accesses up to 64 items at once, in whatever order: all are granted together, and none is held while another is
    /// waited for, so two that name the same items never wait for each other for ever. As for reading.
    ///
    /// - Parameter accessor: gets the items' places in the order of the intents.
    public func coordinate<Value>(
        with intents: [FileAccessIntent], timeout: Duration = defaultTimeout,
        _ accessor: ([String]) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        let access = try begin(intents, timeout)
        defer { access.end() }
        return try accessor(access.paths)
    }
}
