import SealedState
import TestSupport
import Testing

@Suite("The end of a watch", .timeLimit(.minutes(5)))
struct WatchEndTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    @Test func cancellingTheTaskEndsTheIteration() async throws {
        let updates = try store.updates(of: Note.self)
        let (ready, readiness) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in updates { readiness.yield() }
            readiness.finish()
        }
        for await _ in ready { task.cancel() }
        await task.value
    }

    @Test func aTaskCancelledBeforeReceivesNothing() async throws {
        let updates = try store.updates(of: Note.self)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            var count = 0
            for await _ in updates { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value == 0)
    }

    @Test func anIteratorThatHasEndedStaysSo() async throws {
        let updates = try store.updates(of: Note.self)
        let ended = Task {
            var iterator = updates.makeAsyncIterator()
            withUnsafeCurrentTask { $0?.cancel() }
            let first = await iterator.next()
            return await Task { [iterator] in
                var iterator = iterator
                let isOver = await iterator.next() == nil
                return first == nil && isOver
            }.value
        }
        #expect(await ended.value)
    }

    @Test func manyIterationsAreCancelledAtOnce() async throws {
        let updates = try store.updates(of: Note.self)
        await withTaskGroup { group in
            for _ in 0..<200 { group.addTask { for await _ in updates {} } }
            for number in 0..<20 { _ = try? await store.write(Note(text: "", number: number)) }
            group.cancelAll()
        }
    }

    @Test func finishingEndsEveryIteration() async throws {
        let updates = try store.updates(of: Note.self)
        let (ready, readiness) = AsyncStream.makeStream(of: Void.self)
        let tasks = (0..<10).map { _ in Task { for await _ in updates { readiness.yield() } } }
        var count = 0
        for await _ in ready {
            count += 1
            if count == tasks.count { break }
        }
        updates.finish()
        for task in tasks { await task.value }
    }
}
