/// The framing of messages on a stream: a length of four bytes, little-endian, then that many bytes of the message.
///
/// A length of all ones is not a message: the sender has finished and will send nothing more. A dead peer's stream ends
/// without it, which distinguishes the two cases.
enum MessageFrame {
    static let headerSize = 4
    static let finish = UInt32.max
    /// The largest message that any connection may take.
    static let largestMessage = 1 << 30

    static func bytes(of message: [UInt8]) -> [UInt8] {
        header(UInt32(message.count)) + message
    }

    static var finishBytes: [UInt8] { header(finish) }

    private static func header(_ length: UInt32) -> [UInt8] {
        withUnsafeBytes(of: length.littleEndian) { Array($0) }
    }
}

/// Assembles messages from received pieces, of which each may contain several. Allocates memory for received bytes, never
/// for a claimed length.
struct MessageAssembler: Sendable {
    enum Step: Sendable {
        case message([UInt8])
        case finished
        /// The given number of bytes is missing.
        case needs(Int)
        /// The length exceeds the limit.
        case tooLarge(Int)
    }

    var limit: Int
    private var bytes: [UInt8] = []
    /// The number of bytes at the beginning whose messages were returned.
    private var start = 0

    init(limit: Int) { self.limit = limit }

    mutating func append(_ part: some Collection<UInt8>) {
        bytes.removeSubrange(..<start)
        start = 0
        bytes.append(contentsOf: part)
    }

    /// Returns the next complete message or the reason for its absence.
    mutating func next() -> Step {
        let body = start + MessageFrame.headerSize
        guard bytes.count >= body else { return .needs(body - bytes.count) }
        let length = bytes.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: UInt32.self))
        }
        if length == MessageFrame.finish { return .finished }
        guard length <= limit else { return .tooLarge(Int(length)) }
        let end = body + Int(length)
        if bytes.count < end { return .needs(end - bytes.count) }
        let message = Array(bytes[body..<end])
        start = end
        if start == bytes.count {
            // Keeps the room for small messages, not that of a large one.
            bytes.removeAll(keepingCapacity: end < 1 << 14)
            start = 0
        }
        return .message(message)
    }
}
