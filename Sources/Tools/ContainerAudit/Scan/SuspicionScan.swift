internal import ContentDecoding
internal import SecretDetection

/// Asks whether anything in a file can be a secret before its structure is read.
struct SuspicionScan {
    private let source: any ByteSource
    private let end: Int64

    init(_ source: any ByteSource, to end: Int64) {
        self.source = source
        self.end = end
    }

    private static let blockSize = 256 << 10
    /// More than the longest keyword: what lies across two blocks is seen in the second.
    private static let overlap = 256

    func isSuspicious() throws(CarrierFault) -> Bool {
        var position: Int64 = 0
        while position < end {
            let block = try source.bytes(at: position, count: min(Self.blockSize, Int(end - position)))
            if block.isEmpty { return false }
            if block.withUnsafeBytes(SecretSearcher.standard.isSuspicious) { return true }
            if position + Int64(block.count) >= end || block.count <= Self.overlap { return false }
            position += Int64(block.count - Self.overlap)
        }
        return false
    }
}
