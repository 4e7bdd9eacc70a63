internal import Glibc

/// What every writer keeps to, so that what it writes can be read back.
extension PropertyList {
    /// Members in the order of their keys' UTF-8 bytes, which is the same in every language and version.
    package static func sorted(
        _ members: [String: PropertyListValue]
    ) -> [(key: String, value: PropertyListValue)] {
        members.sorted { precedes($0.key, $1.key) }
    }

    private static func precedes(_ one: String, _ other: String) -> Bool {
        let order = one.utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { other -> Bool in
                // No address where there are no bytes.
                guard let first = one.baseAddress, let second = other.baseAddress else {
                    return one.count < other.count
                }
                let difference = memcmp(first, second, min(one.count, other.count))
                return difference == 0 ? one.count < other.count : difference < 0
            }
        }
        return order.flatMap { $0 } ?? one.utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// - Parameter depth: The containers around the one at hand.
    static func checkDepth(_ depth: Int) throws(StructureFault) {
        guard depth < StructureLimits.deepest else { throw .tooDeep(limit: StructureLimits.deepest) }
    }

    static func checkKey(_ key: String) throws(StructureFault) {
        guard key.utf8.count <= StructureLimits.longestKey else { throw .longKey }
        try checkMarks(key)
    }

    static func checkMarks(_ text: String) throws(StructureFault) {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return }
        var run = MarkRun()
        for scalar in text.unicodeScalars where run.exceeds(with: scalar.value) { throw .stackedMarks }
    }
}
