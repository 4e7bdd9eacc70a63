internal import Glibc
internal import Synchronization

/// Runs a body on this number of threads, which start together, and returns the results by index.
package func concurrently<Result: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Result
) throws -> [Swift.Result<Result, any Error>] {
    let shared = Race(count: count, body: body)
    var threads: [pthread_t] = []
    for _ in 0..<count {
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start { shared.run() }).toOpaque()
        let number = pthread_create(
            &thread, nil,
            { pointer in
                if let pointer { Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue().body() }
                return nil
            }, start)
        if number != 0 { throw SystemFailure("pthread_create", number) }
        threads.append(thread)
    }
    for thread in threads { pthread_join(thread, nil) }
    return shared.results
}

private final class Start {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

private final class Race<Output: Sendable>: Sendable {
    private let count: Int
    private let body: @Sendable (Int) throws -> Output
    private let arrived = Atomic(0)
    private let outcomes: Mutex<[Int: Result<Output, any Error>]> = Mutex([:])

    init(count: Int, body: @escaping @Sendable (Int) throws -> Output) {
        self.count = count
        self.body = body
    }

    func run() {
        let index = arrived.add(1, ordering: .sequentiallyConsistent).oldValue
        while arrived.load(ordering: .acquiring) < count { sched_yield() }
        let outcome = Result { try body(index) }
        outcomes.withLock { $0[index] = outcome }
    }

    var results: [Result<Output, any Error>] {
        outcomes.withLock { outcomes in (0..<count).compactMap { outcomes[$0] } }
    }
}
