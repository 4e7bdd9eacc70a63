/// How messages travel on a stream: four bytes, little-endian, then that many bytes of the message.
///
/// A length of all ones is no message: whoever sends it has finished and will send nothing more. An end that is dead just stops,
/// so the two are told apart.
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

/// Puts messages together from what comes in pieces. Room is made for what has come, never for what a length claims.
struct MessageAssembler: Sendable {
    enum Step: Sendable {
        case message([UInt8])
        case finished
        /// So many bytes are missing.
        case needs(Int)
        /// The length is more than is allowed.
        case tooLarge(Int)
    }

    let limit: Int
    private var bytes: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    mutating func append(_ part: some Collection<UInt8>) { bytes.append(contentsOf: part) }

    /// Takes out what is complete.
    mutating func next() -> Step {
        guard bytes.count >= MessageFrame.headerSize else { return .needs(MessageFrame.headerSize - bytes.count) }
        let length = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[$1]) << UInt32(8 * $1) }
        if length == MessageFrame.finish { return .finished }
        guard length <= limit else { return .tooLarge(Int(length)) }
        let missing = MessageFrame.headerSize + Int(length) - bytes.count
        if missing > 0 { return .needs(missing) }
        let message = Array(bytes.dropFirst(MessageFrame.headerSize))
        bytes = []
        return .message(message)
    }
}
