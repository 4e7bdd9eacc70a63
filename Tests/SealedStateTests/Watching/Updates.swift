import SealedState
import Testing

/// An iterator that can be used in the middle of an expectation.
final class Watching<Record: SealedRecord> {
    private var iterator: RecordUpdates<Record>.Iterator

    init(_ updates: RecordUpdates<Record>) { iterator = updates.makeAsyncIterator() }

    /// Returns the next state; without one, the test runs into its time limit.
    func next() async throws -> RecordUpdate<Record> {
        let update = await iterator.next()
        return try #require(update)
    }

    /// Returns a part of the next state.
    func next<Part>(_ part: KeyPath<RecordUpdate<Record>, Part>) async throws -> Part {
        try await next()[keyPath: part]
    }

    /// Returns the first of the next states that fits.
    func next(where fits: (RecordUpdate<Record>) -> Bool) async throws -> RecordUpdate<Record> {
        while true {
            let update = try await next()
            if fits(update) { return update }
        }
    }
}

extension RecordUpdate {
    /// The reason for a missing value if there is no record.
    var absence: StoreError.Code? {
        if case .absent(let error) = outcome { error.code } else { nil }
    }

    /// The reason for a missing value if there is a record.
    var refusal: StoreError.Code? {
        if case .rejected(let error) = outcome { error.code } else { nil }
    }
}
