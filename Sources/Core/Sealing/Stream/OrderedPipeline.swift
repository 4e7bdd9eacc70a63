internal import CryptoPrimitives
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Reads batches in order, transforms them on all cores, and writes them in order, in constant memory.
///
/// Each worker takes a batch under the reading lock, transforms it in its own buffers and writes when its turn comes:
/// while one worker waits for the disk, the others compute. A failure waits for its turn as well, so everything before
/// it is written, nothing after it, and the first failure in the order of the stream is reported.
final class OrderedPipeline<IOFailure: Error>: Sendable {
    typealias Failure = StreamFailure<IOFailure>
    /// Transforms a batch's bytes into output bytes and returns their number; runs on several threads.
    typealias Transform =
        @Sendable (Batch, UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) throws(SealingError) -> Int

    private struct Intake {
        var reader: BatchReader<IOFailure>
        var nextTicket = 0
        var isClosed = false
    }

    /// The number of chunks in a batch, whose input and output fit a core's second-level cache.
    static var chunksPerBatch: Int { 8 }

    private let intake: Mutex<Intake>
    private let gate = TurnGate()
    private let failure = Mutex<Failure?>(nil)
    private let workers: Int
    private let inputSize: Int
    private let outputSize: Int

    init(reader: BatchReader<IOFailure>, outputChunkSize: Int, workers: Int) {
        inputSize = reader.chunkSize * Self.chunksPerBatch + 1
        outputSize = outputChunkSize * Self.chunksPerBatch
        intake = Mutex(Intake(reader: reader))
        self.workers = workers
    }

    /// Processes the source to its end.
    ///
    /// - Parameters:
    ///   - transform: The transformation of each batch.
    ///   - write: Takes a batch's output; called in order, one at a time.
    func run(transform: Transform, write: StreamSink<IOFailure>) throws(Failure) {
        work(transform, write)
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func work(_ transform: Transform, _ write: StreamSink<IOFailure>) {
        guard workers > 1 else { return runWorker(transform, write) }
        DispatchQueue.concurrentPerform(iterations: workers) { _ in runWorker(transform, write) }
    }

    private func runWorker(_ transform: Transform, _ write: StreamSink<IOFailure>) {
        var input = PlaintextBuffer(count: inputSize)
        var output = PlaintextBuffer(count: outputSize)
        do throws(Failure) {
            while let (batch, ticket) = take(into: &input) {
                let count = apply(transform, batch, input, &output)
                guard gate.wait(for: ticket) else { return }
                try put(output, count: try count.get(), write)
                gate.advance()
            }
        } catch {
            stop(for: error)
        }
    }

    /// Returns the next batch, or the failure to read it, with its ticket. Returns `nil` at the end.
    private func take(into input: inout PlaintextBuffer) -> (Result<Batch, Failure>, Int)? {
        input.withUnsafeMutableBytes { buffer in
            intake.withLock { intake in
                guard !intake.isClosed else { return nil }
                defer { intake.nextTicket += 1 }
                do throws(Failure) {
                    guard let batch = try intake.reader.next(into: buffer) else { return nil }
                    return (.success(batch), intake.nextTicket)
                } catch {
                    // The reader's position is undefined, so no other worker may continue from here.
                    intake.isClosed = true
                    return (.failure(error), intake.nextTicket)
                }
            }
        }
    }

    private func apply(
        _ transform: Transform, _ batch: Result<Batch, Failure>, _ input: borrowing PlaintextBuffer,
        _ output: inout PlaintextBuffer
    ) -> Result<Int, Failure> {
        do throws(Failure) {
            return .success(try apply(transform, try batch.get(), input, &output))
        } catch { return .failure(error) }
    }

    private func apply(
        _ transform: Transform, _ batch: Batch, _ input: borrowing PlaintextBuffer, _ output: inout PlaintextBuffer
    ) throws(Failure) -> Int {
        do throws(SealingError) {
            return try input.withUnsafeBytes { input throws(SealingError) in
                try output.withUnsafeMutableBytes { output throws(SealingError) in
                    try transform(batch, UnsafeRawBufferPointer(rebasing: input[0..<batch.count]), output)
                }
            }
        } catch { throw .sealing(error) }
    }

    private func put(
        _ output: borrowing PlaintextBuffer, count: Int, _ write: StreamSink<IOFailure>
    ) throws(Failure) {
        do throws(IOFailure) {
            try output.withUnsafeBytes { output throws(IOFailure) in
                try write(UnsafeRawBufferPointer(rebasing: output[0..<count]))
            }
        } catch { throw .output(error) }
    }

    /// Stores the failure and stops all workers. Called in turn, so only one failure is stored.
    private func stop(for error: Failure) {
        failure.withLock { $0 = error }
        gate.stop()
        intake.withLock { $0.isClosed = true }
    }
}

/// The number of cores for a stream.
package enum StreamWorkers {
    /// The number of online cores, at most 8. Beyond that, reading and writing are the bottleneck.
    package static var all: Int { max(1, min(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 8)) }
}

/// Admits workers in the order of their tickets, or stops all of them.
final class TurnGate {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var next = 0
    private var isStopped = false

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Waits for the turn of `ticket`. Returns `false` if the gate was stopped.
    func wait(for ticket: Int) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while next != ticket && !isStopped { pthread_cond_wait(condition, mutex) }
        return !isStopped
    }

    /// Ends the current turn.
    func advance() {
        change { next += 1 }
    }

    /// Stops all current and future waiters.
    func stop() {
        change { isStopped = true }
    }

    private func change(_ body: () -> Void) {
        pthread_mutex_lock(mutex)
        body()
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }
}

// Protected by `mutex`: `next` and `isStopped` are accessed only while it is held.
extension TurnGate: @unchecked Sendable {}
