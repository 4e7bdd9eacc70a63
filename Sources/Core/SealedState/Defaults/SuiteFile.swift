internal import AppGroups
internal import PropertyLists
internal import SealedBackends
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// A suite's file in the group's current container: read when it has changed, and kept in memory until then.
package final class SuiteFile: Sendable {
    private struct State {
        var store: SealedStore
        var contents: SuiteContents?
    }

    /// The number of times that a file that is replaced while it is read is read again.
    private static let maximumRereads = 16

    let suite: DefaultsSuite
    package let place: RecordPlace
    private let state: Mutex<State>

    /// - Parameter store: The group's store, with the limits of defaults.
    init(_ suite: DefaultsSuite, in store: SealedStore) {
        self.suite = suite
        place = RecordPlace(suite.recordName, group: store.group.identifier)
        state = Mutex(State(store: store))
    }

    /// The store on the group's container, as far as it is known.
    package var store: SealedStore { state.withLock { $0.store } }

    /// Returns the suite's present contents. Takes no lock.
    ///
    /// - Throws: `StoreError` with the reason why the file is refused or missing; never an empty suite instead.
    func contents() throws(StoreError) -> SuiteContents {
        let (store, known) = state.withLock { ($0.store, $0.contents) }
        if let known, known.isCurrent(store.reader), known.hasBegun(store.options) { return known }
        return try followed().onPresentContainer { found throws(StoreError) in
            follow(found)
            let contents = try contents(in: found)
            do throws(StoreError) { try found.reader.checkFreshness(of: contents, named: place.name.text) } catch {
                found.reader.notice(error, at: place)
                throw error
            }
            return contents
        }
    }

    /// Returns the contents in a container that is known to be the group's, also with a timestamp in the future.
    func contents(in store: SealedStore) throws(StoreError) -> SuiteContents {
        let known = state.withLock { $0.store === store ? $0.contents : nil }
        if let known, known.isCurrent(store.reader) { return known }
        let contents = try read(from: store)
        keep(contents, of: store)
        return contents
    }

    /// Returns the store on the group's current container.
    ///
    /// - Throws: `StoreError` `.containerMissing`, `.container`.
    package func followed() throws(StoreError) -> SealedStore {
        let found = try store.following()
        follow(found)
        return found
    }

    func follow(_ found: SealedStore) {
        state.withLock { state in
            if state.store !== found { state = State(store: found) }
        }
    }

    /// Remembers the contents that this process has written, with the file's lock still held.
    func keep(_ contents: SuiteContents?, of store: SealedStore) {
        state.withLock { state in
            if state.store === store { state.contents = contents }
        }
    }

    private func read(from store: SealedStore) throws(StoreError) -> SuiteContents {
        for _ in 0..<Self.maximumRereads {
            let reading = try readOnce(from: store)
            if reading.isSettled, let contents = reading.contents { return contents }
        }
        // The file is written faster than it can be read: the last result was true a moment ago.
        let last = try readOnce(from: store)
        if let contents = last.contents { return contents }
        throw StoreError(
            .file, "read", place.name.text, "It was removed and written again repeatedly.", advice: "Try again.")
    }

    /// The result of one look.
    private struct Reading {
        /// Nil if it was written again meanwhile.
        var contents: SuiteContents?
        /// The contents are certainly those of the held file.
        var isSettled = false
    }

    private func readOnce(from store: SealedStore) throws(StoreError) -> Reading {
        do throws(StoreError) {
            let blob = try store.reader.acceptedBlob(at: place)
            let values = try store.reader.suiteValues(in: blob, at: place)
            return Reading(
                contents: SuiteContents(values, blob.header, held: blob.held),
                isSettled: blob.held?.isCurrent ?? false)
        } catch {
            store.reader.notice(error, at: place)
            guard error.code == .absent else { throw error }
            return try absent(error, in: store)
        }
    }

    /// Returns the reading of an absent file: a suite that was never written or was deleted is empty; one whose file is
    /// missing is not.
    private func absent(_ error: StoreError, in store: SealedStore) throws(StoreError) -> Reading {
        let held = try store.reader.held(at: place)
        switch try store.reader.existing(at: place) {
        case .nothing where store.reader.isMissing(place):
            throw StoreError(
                .absent, "read", place.name.text, error.reason,
                advice: "Find out what removed it; to begin again, write a value or remove the suite.")
        case .nothing: return Reading(contents: SuiteContents(absent: place.context.nameTag), isSettled: true)
        case .tombstone(let tombstone):
            return Reading(
                contents: SuiteContents([:], tombstone.header, held: held), isSettled: held?.isCurrent ?? false)
        // Written again meanwhile: a read determines its state.
        case .value, .refused: return Reading()
        }
    }
}

/// The state of a suite's file without opening it.
package enum SuiteFileState: Sendable {
    /// The suite was never written, as far as this user's programs know; or its deletion was purged.
    case unknown
    /// A file exists, valid or not.
    case present
    /// The suite was removed: its deletion replaces its file.
    case removed
    /// Its file is missing, without a deletion.
    case missing
}

extension SuiteFile {
    func fileState() throws(StoreError) -> SuiteFileState {
        let store = try followed()
        return switch try store.reader.existing(at: place) {
        case .nothing: store.reader.isMissing(place) ? .missing : .unknown
        case .tombstone: .removed
        case .value, .refused: .present
        }
    }
}
