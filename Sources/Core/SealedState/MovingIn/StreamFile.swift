internal import CryptoPrimitives
internal import SharedFiles
internal import Synchronization

/// Why two streams could not be compared to their end.
enum StreamTrouble: Error {
    case file(FileError)
    case differs
}

/// A sealed file that is read from its start.
final class StreamFile: Sendable {
    private let descriptor: Descriptor
    private let offset = StreamOffset()

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(StreamTrouble) -> Int {
        do throws(FileError) {
            let count = try descriptor.pread(into: buffer, at: offset.value)
            offset.advance(count)
            return count
        } catch { throw .file(error) }
    }
}

/// How far a stream was read or compared: by one thread at a time, but not always the same.
final class StreamOffset: Sendable {
    private let offset = Atomic<Int64>(0)

    var value: Int64 { offset.load(ordering: .relaxed) }

    func advance(_ count: Int) { offset.add(Int64(count), ordering: .relaxed) }
}

extension PlaintextSource {
    /// - Throws: `.differs` unless the file goes on with these bytes.
    func requireSame(_ bytes: UnsafeRawBufferPointer, at offset: StreamOffset) throws(StreamTrouble) {
        var expected = PlaintextBuffer(count: bytes.count)
        let count: Int
        do throws(FileError) {
            count = try expected.withUnsafeMutableBytes { buffer throws(FileError) in
                try descriptor.pread(into: buffer, at: offset.value)
            }
        } catch { throw .file(error) }
        guard count == bytes.count, expected.withUnsafeBytes({ ConstantTime.areEqual($0, bytes) }) else {
            throw .differs
        }
        offset.advance(count)
    }
}
