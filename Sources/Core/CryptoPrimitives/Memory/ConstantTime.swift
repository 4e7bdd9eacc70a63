internal import CSodium

/// Comparison whose time does not depend on where two values differ.
package enum ConstantTime {
    /// Whether both buffers hold the same bytes; buffers of different sizes are never equal.
    @inline(__always)
    package static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count, let first = a.baseAddress, let second = b.baseAddress else {
            return a.count == b.count
        }
        return csodium_compare(first, second, a.count) == 0
    }
}
