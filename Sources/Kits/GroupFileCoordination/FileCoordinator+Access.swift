public import SharedFiles

/// Accesses that block the calling thread until they are granted.
///
/// The accessor runs on that thread, once, and gets the item's current path. Use that path instead of the requested
/// one. The access ends when the accessor returns. An accessor with errors of its own returns a `Result`.
extension FileCoordinator {
    /// Reads one file or directory.
    ///
    /// - Parameter timeout: for presenters and locks together; zero tries the locks once. Presenters always get at
    ///   least 250 milliseconds; without presenters the access never takes longer than the limit.
    /// - Throws: ``FileError`` with `lockTimeout`, `presenterTimeout`, `presenterFailed`, `cancelled`, `invalidName`, a
    ///   system error, or the accessor's error.
    public func coordinate<Value>(
        readingItemAt path: String, options: ReadingOptions = [], timeout: Duration = defaultTimeout,
        _ accessor: (String) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        try coordinate(with: [.reading(path, options: options)], timeout: timeout) { (paths) throws(FileError) in
            try accessor(paths[0])
        }
    }

    /// Writes, moves or deletes one file or directory; otherwise as for reading.
    public func coordinate<Value>(
        writingItemAt path: String, for purpose: WritingPurpose = .updating, timeout: Duration = defaultTimeout,
        _ accessor: (String) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        try coordinate(with: [.writing(path, for: purpose)], timeout: timeout) { (paths) throws(FileError) in
            try accessor(paths[0])
        }
    }

    /// Reads one item and writes another; otherwise as for reading.
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

    /// Writes two items, such as a source `for: .moving` and its new path `for: .replacing`; otherwise as for reading.
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

    /// Accesses up to 64 items at once, in any order; otherwise as for reading. All are granted together, and none is
    /// held while another is waited for, so two calls that name the same items never deadlock.
    ///
    /// - Parameter accessor: gets the items' paths in the order of the intents.
    public func coordinate<Value>(
        with intents: [FileAccessIntent], timeout: Duration = defaultTimeout,
        _ accessor: ([String]) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        let access = try begin(intents, timeout)
        defer { access.end() }
        return try accessor(access.paths)
    }
}

extension FileCoordinator {
    /// Asks presenters once for a batch of many accesses: the presenters of the named items and of everything in them.
    ///
    /// Takes no locks: the accessor makes its accesses with this same coordinator, which then does not ask again. Each
    /// deletion still asks separately. The presenters continue when the accessor returns. Presenters added meanwhile
    /// are not asked.
    /// - Parameter timeout: for the presenters, which get at least 250 milliseconds.
    /// - Throws: ``FileError`` as for reading, except `lockTimeout`.
    public func prepare<Value>(
        forReadingItemsAt readings: [String], options: ReadingOptions = [], writingItemsAt writings: [String],
        for purpose: WritingPurpose = .updating, timeout: Duration = defaultTimeout,
        _ accessor: () throws(FileError) -> Value
    ) throws(FileError) -> Value {
        let purposeOfThis = try self.purpose()
        let items = try announced(readings, .reading(options)) + announced(writings, .writing(purpose))
        guard items.count <= PresenterMessage.maximumItems else {
            throw FileError(
                .tooLarge, operation: "coordinate", path: items[0].path.string,
                advice: "Name the directories that contain the items: at most \(PresenterMessage.maximumItems).")
        }
        let conversations = PresenterConversations(domain: purposeOfThis.domain, except: presenter)
        let limit = limit(timeout)
        try limit.requireWanted(items.first?.path.string ?? "")
        try conversations.ask(about: items, limit.forPresenters)
        purposeOfThis.announce(items)
        defer {
            purposeOfThis.retract(items)
            conversations.end([])
        }
        return try accessor()
    }

    private func announced(
        _ paths: [String], _ access: FileAccessIntent.Access
    ) throws(FileError) -> [AnnouncedItem] {
        var items: [AnnouncedItem] = []
        for path in paths {
            let item = AnnouncedItem(try ItemPath(path), access)
            items.append(AnnouncedItem(path: item.path, needs: item.needs.union(.contained)))
        }
        return items
    }
}

extension FileCoordinator {
    /// Announces that an item is about to be moved. The access `for: .moving` asks the presenters. This call only
    /// checks both paths, so that `item(at:didMoveTo:)` can't fail on them.
    ///
    /// - Throws: ``FileError`` with `invalidName`, or an error of examining the parents.
    public func item(at oldPath: String, willMoveTo newPath: String) throws(FileError) {
        _ = (try ItemPath(oldPath), try ItemPath(newPath))
    }

    /// Notifies presenters of the item, of items inside it, and of its old and new directories that it has moved.
    ///
    /// Call it inside the accessor of an access that wrote both paths. Presenters are notified when that access ends,
    /// even if other accesses of this coordinator end before. This coordinator's own presenter is not notified.
    /// - Throws: ``FileError`` with `invalidName`, or an error of examining the parents.
    public func item(at oldPath: String, didMoveTo newPath: String) throws(FileError) {
        let (old, new) = (try ItemPath(oldPath), try ItemPath(newPath))
        if old == new { return }
        let purpose = try purpose()
        if purpose.noteMove(from: old, to: new) { return }
        PresenterConversations(domain: purpose.domain, except: presenter).notify([.moved(old, new)])
    }
}
