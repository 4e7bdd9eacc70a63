internal import ContentDecoding

/// A part of a file, read as if it were all of it.
final class SourcePart: ByteSource {
    private let whole: any ByteSource
    private let range: Range<Int64>

    init(of whole: any ByteSource, _ range: Range<Int64>) {
        self.whole = whole
        self.range = range
    }

    var count: Int64 { Int64(range.count) }

    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(CarrierFault) -> Int {
        guard position >= 0, position < count else { return 0 }
        let size = min(buffer.count, Int(count - position))
        return try whole.read(
            at: range.lowerBound + position, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<size]))
    }

    func nextData(from position: Int64) -> Int64? {
        guard let next = whole.nextData(from: range.lowerBound + position), next < range.upperBound else { return nil }
        return next - range.lowerBound
    }
}
