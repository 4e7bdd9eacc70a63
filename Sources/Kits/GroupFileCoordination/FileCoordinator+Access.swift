public import SharedFiles

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

extension FileCoordinator {
    /// Asks presenters once for a batch of many accesses: those of the named items and of everything in them.
    ///
    /// Locks nothing: the accessor makes its accesses with this same coordinator, which then do not ask again. Deletions are
    /// asked for each by itself. The presenters go on when the accessor returns. Presenters that come meanwhile are not asked.
    /// - Parameter timeout: for the presenters, who get 250 milliseconds at least.
    /// - Throws: ``FileError`` as for reading, but `lockTimeout`.
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
                advice: "Name the directories that the items lie in: at most \(PresenterMessage.maximumItems).")
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
    /// Announces that an item is about to be moved. Presenters are asked by the access `for: .moving`; this only checks both
    /// paths, so that `item(at:didMoveTo:)` can't fail on them.
    ///
    /// - Throws: ``FileError`` with `invalidName`, or what looking at the parents gave.
    public func item(at oldPath: String, willMoveTo newPath: String) throws(FileError) {
        _ = (try ItemPath(oldPath), try ItemPath(newPath))
    }

    /// Tells presenters of the item, of what lies in it, and of directories that it was or is in now, that it has moved.
    ///
    /// Called within the accessor of an access that wrote both places; they are told when it ends, whatever nested or other access of this coordinator ends before. Not told is this
    /// coordinator's own presenter.
    /// - Throws: ``FileError`` with `invalidName`, or what looking at the parents gave.
    public func item(at oldPath: String, didMoveTo newPath: String) throws(FileError) {
        let (old, new) = (try ItemPath(oldPath), try ItemPath(newPath))
        if old == new { return }
        let purpose = try purpose()
        if purpose.noteMove(from: old, to: new) { return }
        PresenterConversations(domain: purpose.domain, except: presenter).tell([.moved(old, new)])
    }
}
