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
