internal import CSodium

/// Random bytes from the kernel, through libsodium.
package enum SecureRandom {
    /// Fills the whole buffer.
    @inline(__always)
    package static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        Sodium.start()
        guard let base = buffer.baseAddress else { return }
        csodium_random(base, buffer.count)
    }

    /// Returns random bytes for public values such as ids and salts.
    package static func bytes(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fill(UnsafeMutableRawBufferPointer(buffer))
            initialized = count
        }
    }
}
