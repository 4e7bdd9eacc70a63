/// A part of a source, as a source: what lies in a file in one piece and is too large to be held in memory.
final class PartSource: ByteSource {
    private let source: any ByteSource
    private let start: Int64
    let count: Int64

    /// - Parameter range: Is cut where the source ends.
    init(_ source: any ByteSource, _ range: Range<Int64>) {
        self.source = source
        let part = range.clamped(to: 0..<max(0, source.count))
        start = part.lowerBound
        count = Int64(part.count)
    }

    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(CarrierFault) -> Int {
        guard position >= 0, position < count else { return 0 }
        let wanted = Int(min(Int64(buffer.count), count - position))
        return try source.read(at: start + position, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
    }

    func nextData(from position: Int64) -> Int64? {
        guard let next = source.nextData(from: start + position), next < start + count else { return nil }
        return next - start
    }
}
