import CryptoPrimitives
import Sealing
import Testing

/// The ways of this library to read a whole blob. All of them must return the same result.
enum BlobReading: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case whole, streamWithOneWorker, streamWithThreeWorkers, range

    var testDescription: String { rawValue }

    struct Answer {
        var result: Result<[UInt8], SealingError>
        /// The plaintext that was released before the end was read. Only streams release early.
        var releasedEarly: [UInt8] = []

        var code: String {
            switch result {
            case .success: "ok"
            case .failure(let error): error.code.rawValue
            }
        }
    }

    func read(_ blob: [UInt8], of vector: BlobVector) -> Answer {
        read(blob, context: vector.context, keys: vector.keys, limit: vector.limit ?? 1 << 30)
    }

    func read(_ blob: [UInt8], context: BlobContext?, key: SealingKey, limit: Int = 1 << 30) -> Answer {
        read(blob, context: context, keys: ReaderKeys(key: key), limit: limit)
    }

    private func read(_ blob: [UInt8], context: BlobContext?, keys: ReaderKeys, limit: Int) -> Answer {
        switch self {
        case .whole: Answer(result: Result { () throws(SealingError) in try Self.whole(blob, context, keys, limit) })
        case .streamWithOneWorker: Self.stream(blob, context, keys, workers: 1)
        case .streamWithThreeWorkers: Self.stream(blob, context, keys, workers: 3)
        case .range: Answer(result: Result { () throws(SealingError) in try Self.range(blob, context, keys) })
        }
    }

    private static func whole(
        _ blob: [UInt8], _ context: BlobContext?, _ keys: ReaderKeys, _ limit: Int
    ) throws(SealingError) -> [UInt8] {
        let opened = try blob.withRawBytes { blob throws(SealingError) in
            try BlobOpener.open(blob, context: context, keys: keys, limit: limit)
        }
        return opened.plaintext.withUnsafeBytes { Array($0) }
    }

    private static func stream(_ blob: [UInt8], _ context: BlobContext?, _ keys: ReaderKeys, workers: Int) -> Answer {
        let sink = MemorySink()
        do throws(StreamFailure<Never>) {
            try StreamOpener.openReleasingEarly(
                from: MemorySource(blob).read, to: sink.write, context: context, keys: keys, workers: workers)
            return Answer(result: .success(sink.bytes), releasedEarly: sink.bytes)
        } catch {
            return Answer(result: .failure(sealingError(error)), releasedEarly: sink.bytes)
        }
    }

    private static func range(
        _ blob: [UInt8], _ context: BlobContext?, _ keys: ReaderKeys
    ) throws(SealingError) -> [UInt8] {
        do throws(StreamFailure<Never>) {
            let reader = try StreamRangeReader<Never>(
                blobSize: blob.count, context: context, keys: keys,
                readAt: { offset, buffer in buffer.copyBytes(from: blob[offset..<offset + buffer.count]) })
            return try reader.read(0..<reader.plaintextSize)
        } catch { throw sealingError(error) }
    }
}

/// Returns the refusal of a stream that cannot fail otherwise.
func sealingError(_ failure: StreamFailure<Never>) -> SealingError {
    switch failure {
    case .sealing(let error): error
    }
}
