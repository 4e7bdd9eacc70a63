internal import CryptoPrimitives

/// One line of a secret, straight into guarded memory.
struct SecretLine: ~Copyable {
    /// Without the line's end; one byte more than the limit stands for any longer line.
    let bytes: SecretBytes
    /// Whether a line feed ended it; else the input did.
    let isEnded: Bool

    /// Reads byte by byte, so that nothing behind the line is taken.
    ///
    /// - Parameters:
    ///   - limit: The longest line that the caller takes. A longer one is read to its end.
    ///   - next: Reads one byte; false at the end of the input.
    static func read(
        limit: Int, next: (UnsafeMutableRawBufferPointer) throws(Failure) -> Bool
    ) throws(Failure) -> SecretLine {
        var count = 0
        var isEnded = false
        let room = try SecretBytes(count: limit + 2) { buffer throws(Failure) in
            while !isEnded {
                let place = UnsafeMutableRawBufferPointer(rebasing: buffer[count...count])
                guard try next(place) else { return }
                isEnded = place[0] == 0x0A
                if !isEnded { count = min(count + 1, limit + 1) }
            }
        }
        let line = room.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        return SecretLine(bytes: line, isEnded: isEnded)
    }

    /// The secret alone.
    consuming func take() -> SecretBytes { bytes }
}
