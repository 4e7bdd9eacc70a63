internal import Dispatch

/// Changes by programs that do not coordinate, as far as the file monitor sees them.
extension PresenterRecord {
    private static let queue = DispatchQueue(label: "SharedFiles.presenter.watch")

    /// Watches the item's path; a path that was watched before no more.
    ///
    /// - Throws: `watchLimit`, `tooManyOpenFiles`.
    func watch(in domain: CoordinationDomain) throws(FileError) {
        guard let path else { return replaceWatch(nil) }
        let watch = try FileMonitor.shared.watch(path.string) { [weak self] _ in
            guard let self else { return }
            // Not on the monitor's thread: a presenter's path may lie on a slow file system.
            Self.queue.async { self.look(in: domain) }
        }
        replaceWatch(watch)
        // What happened between the last look and the beginning of the watch.
        Self.queue.async { self.look(in: domain) }
    }

    private func look(in domain: CoordinationDomain) {
        if !isRemoved && hasNews(in: domain) { tellChange() }
    }

    /// Whether there is another version than the presenter knows, which is not its own coordinators' work.
    ///
    /// A coordinator settles its presenter before it lets go of its claim. So the claim is asked for after the version was
    /// taken, and what is settled after that: whoever wrote in between has changed one of the two.
    private func hasNews(in domain: CoordinationDomain) -> Bool {
        while true {
            let known = settled
            guard let path else { return false }
            let found = FileStamp(path)
            if Purposes.existing(of: presenter, in: domain)?.isWriting(path) == true { return false }
            if known == settled { return found != known }
        }
    }
}
