internal import Synchronization

/// How far a source has been read; the pipeline reads from one thread at a time, but not always from the same.
final class Position: Sendable {
    private let offset: Atomic<Int64>

    init(_ start: Int64) { offset = Atomic(start) }

    var value: Int64 { offset.load(ordering: .relaxed) }

    func advance(_ count: Int) { offset.add(Int64(count), ordering: .relaxed) }
}
