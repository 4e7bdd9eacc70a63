internal import KeyVault
internal import SealedState
internal import Sealing

/// Prints changes as they come.
struct LiveView: Sendable {
    let store: SealedStore
    /// Nil for all records.
    let names: [String]?
    /// After how many changes it ends; nil for never.
    let limit: Int?
    let changesOnly: Bool
    let showsValues: Bool
    let isJSON: Bool

    /// Ends with its task.
    func show() async throws(Failure) {
        let changes = try Failure.onStore { () throws(StoreError) in try store.changes(of: names) }
        var events = WatchEvents()
        var count = 0
        for await change in changes {
            let event = events.event(for: change)
            if change.isInitial && changesOnly { continue }
            guard let line = line(WatchLine(change: change, event: event)) else { continue }
            try StandardStreams.print(line)
            if !change.isInitial { count += 1 }
            if let limit, count >= limit { return }
        }
    }

    /// Nil where the value was replaced since: the change that follows shows the new one.
    private func line(_ line: WatchLine) -> String? {
        guard showsValues, case .value(let provenance) = line.change.outcome else { return text(of: line) }
        guard let opened = try? store.following().openPayload(named: line.change.name),
            opened.header.header.sequence == provenance.sequence
        else { return nil }
        var line = line
        line.value = Self.json(of: opened, store.options)
        return text(of: line)
    }

    private func text(of line: WatchLine) -> String { isJSON ? line.json(withValue: showsValues).text : line.text }

    /// One line; nil for what is no JSON.
    private static func json(of opened: borrowing BlobOpener.Opened, _ options: StoreOptions) -> String? {
        guard opened.header.header.codec == .json else { return nil }
        return opened.plaintext.withUnsafeBytes { bytes in
            (try? JSONChecker.check(bytes, maximumDepth: options.maximumDepth)) == nil ? nil : JSONLayout.compact(bytes)
        }
    }
}
