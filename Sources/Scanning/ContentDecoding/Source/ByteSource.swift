/// Bytes at rest that a carrier is read from. Nothing is ever written to them, and nothing is ever mapped: another program
/// may cut the file while it is read.
package protocol ByteSource: AnyObject {
    /// How many bytes there were when it was opened.
    var count: Int64 { get }
    /// Reads from a position until the buffer is full or the bytes end.
    ///
    /// - Returns: How many bytes were read; fewer than the buffer holds only at the end.
    /// - Throws: `CarrierFault.unreadable` when the system refuses.
    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(CarrierFault) -> Int
    /// Where bytes begin again, at this position or after it, that are not the zeros of a hole; nil where none follow.
    func nextData(from position: Int64) -> Int64?
    /// Whether less was read, at some time, than `count` said: somebody cut the file after it was opened.
    var isCut: Bool { get }
}

extension ByteSource {
    package func nextData(from position: Int64) -> Int64? { position < count ? position : nil }
    package var isCut: Bool { false }

    /// The bytes of a range, cut where the source ends.
    package func bytes(at position: Int64, count wanted: Int) throws(CarrierFault) -> [UInt8] {
        guard position >= 0, wanted > 0, position < count else { return [] }
        let size = Int(min(Int64(wanted), count - position))
        // The buffer's initialiser takes no typed throws.
        var fault: CarrierFault?
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            do throws(CarrierFault) {
                filled = try read(at: position, into: UnsafeMutableRawBufferPointer(buffer))
            } catch { fault = error }
        }
        if let fault { throw fault }
        return bytes
    }
}
