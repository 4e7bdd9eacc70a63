/// A buffer that is filled again and again.
final class ScratchBytes {
    private var storage: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int = 256) { storage = .allocate(byteCount: capacity, alignment: 16) }

    deinit { storage.deallocate() }

    /// What it holds; valid until it is changed.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }

    func removeAll() { count = 0 }

    func append(_ byte: UInt8) {
        reserve(1)
        storage[count] = byte
        count += 1
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        reserve(bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// A character as UTF-8; half a one becomes U+FFFD.
    func append(scalar: UInt32) {
        let scalar = Unicode.Scalar(scalar) ?? "\u{FFFD}"
        for byte in UTF8.encode(scalar).unsafelyUnwrapped { append(byte) }
    }

    /// Holds a text and nothing else.
    func assign(_ text: String) -> UnsafeRawBufferPointer {
        count = 0
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        return bytes
    }

    private func reserve(_ more: Int) {
        guard count + more > storage.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * storage.count, count + more), alignment: 16)
        larger.copyMemory(from: bytes)
        storage.deallocate()
        storage = larger
    }
}
