internal import FoundationEssentials

/// How long a watcher waits for what the time alone changes.
extension SealedStore {
    /// A change that is due and has not come yet must not keep a watcher busy.
    private static let shortestWait = 0.02

    /// In how many seconds a value that was just read is to be looked at again; nil for never.
    func secondsToChange<Record: SealedRecord>(of snapshot: RecordSnapshot<Record>, at place: RecordPlace) -> Double? {
        nextChange(of: snapshot, named: place.name.text).map(seconds)
    }

    /// The same for a record that was just refused as `notYetValid`.
    func secondsToBeginning(at place: RecordPlace) -> Double {
        seconds(until: change(ofRefused: place.name.text)) + 0.001
    }

    private func seconds(until date: Date) -> Double { max(Self.shortestWait, date.timeIntervalSince(options.now())) }
}
