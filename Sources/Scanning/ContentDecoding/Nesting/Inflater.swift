internal import Czlib

/// Decompresses gzip (RFC 1952) and zlib (RFC 1950), a piece at a time.
final class Inflater {
    /// How a piece ended.
    enum Step { case more, memberEnded, damaged }

    private let stream: UnsafeMutablePointer<z_stream>
    private let isReady: Bool

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, and 32: gzip or zlib, as the header says.
        isReady = inflateInit2_(stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Begins another member of the same file.
    func restart() { inflateReset(stream) }

    /// Decompresses from one buffer into another until one of them is used up.
    ///
    /// - Returns: How many bytes were taken and made.
    func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> (taken: Int, made: Int, step: Step) {
        guard isReady else { return (0, 0, .damaged) }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(clamping: output.count)
        let status = Czlib.inflate(stream, Z_NO_FLUSH)
        let taken = Int(UInt32(clamping: input.count) - stream.pointee.avail_in)
        let made = Int(UInt32(clamping: output.count) - stream.pointee.avail_out)
        switch status {
        case Z_STREAM_END: return (taken, made, .memberEnded)
        // Nothing to do is no fault: more input or more room mends it.
        case Z_OK, Z_BUF_ERROR: return (taken, made, .more)
        default: return (taken, made, .damaged)
        }
    }

    /// Whether bytes begin like zlib's format, and can be decompressed as far as a look goes: its two bytes alone say little.
    static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 8, bytes[0] & 0x0F == 8, bytes[0] >> 4 <= 7, bytes[1] & 0x20 == 0,
            (Int(bytes[0]) << 8 | Int(bytes[1])).isMultiple(of: 31)
        else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { output in
            let result = Inflater().inflate(UnsafeRawBufferPointer(rebasing: bytes.prefix(4096)), into: output)
            return result.step != .damaged && result.made >= 8
        }
    }
}
