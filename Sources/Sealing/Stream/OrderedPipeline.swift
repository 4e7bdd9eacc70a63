internal import CryptoPrimitives
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Reads batches in order, transforms them on all cores, writes them in order, in constant memory.
///
/// Each worker takes a batch under the reading lock, transforms it in its own buffers and writes when its turn comes:
/// while one waits for the disk the others compute. Nothing behind a failed batch is written.
final class OrderedPipeline<IOFailure: Error>: Sendable {
    typealias Failure = StreamFailure<IOFailure>
    /// Turns a batch's bytes into output bytes and returns their number; runs on several threads.
    typealias Transform =
        @Sendable (Batch, UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) throws(SealingError) -> Int

    private struct Intake {
        var reader: BatchReader<IOFailure>
        var nextTicket = 0
        var isClosed = false
    }

    /// Chunks in a batch: input and output of one fit a core's second-level cache.
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

    /// Runs to the end of the source.
    ///
    /// - Parameters:
    ///   - transform: What is done to each batch.
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
            while let (batch, ticket) = try take(into: &input) {
                let count = try apply(transform, batch, input, &output)
                guard gate.wait(for: ticket) else { return }
                try put(output, count: count, write)
                gate.advance()
            }
        } catch {
            stop(for: error)
        }
    }

    private func take(into input: inout PlaintextBuffer) throws(Failure) -> (Batch, Int)? {
        try input.withUnsafeMutableBytes { buffer throws(Failure) in
            try intake.withLock { intake throws(Failure) in
                guard !intake.isClosed, let batch = try intake.reader.next(into: buffer) else { return nil }
                defer { intake.nextTicket += 1 }
                return (batch, intake.nextTicket)
            }
        }
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

    /// Keeps the first failure and sends every worker away.
    private func stop(for error: Failure) {
        failure.withLock { if $0 == nil { $0 = error } }
        gate.stop()
        intake.withLock { $0.isClosed = true }
    }
}

/// How many cores a stream uses.
package enum StreamWorkers {
    /// One for each core that is online, at most 8: beyond that the reading and writing decide.
    package static var all: Int { max(1, min(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 8)) }
}
