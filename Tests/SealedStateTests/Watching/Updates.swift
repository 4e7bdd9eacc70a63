import SealedState
import Testing

/// An iterator to ask in the middle of an expectation.
final class Watching<Record: SealedRecord> {
    private var iterator: RecordUpdates<Record>.Iterator

    init(_ updates: RecordUpdates<Record>) { iterator = updates.makeAsyncIterator() }

    /// The next state; there always is one, or the test runs into its time limit.
    func next() async throws -> RecordUpdate<Record> {
        let update = await iterator.next()
        return try #require(update)
    }

    /// A part of the next state.
    func next<Part>(_ part: KeyPath<RecordUpdate<Record>, Part>) async throws -> Part {
        try await next()[keyPath: part]
    }

    /// The first state from here on that fits.
    func next(where fits: (RecordUpdate<Record>) -> Bool) async throws -> RecordUpdate<Record> {
        while true {
            let update = try await next()
            if fits(update) { return update }
        }
    }
}

extension RecordUpdate {
    /// Why there is no value, where there is nothing.
    var absence: StoreError.Code? {
        if case .absent(let error) = outcome { error.code } else { nil }
    }

    /// Why there is no value, where there is something.
    var refusal: StoreError.Code? {
        if case .rejected(let error) = outcome { error.code } else { nil }
    }
}
