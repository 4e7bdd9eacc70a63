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
