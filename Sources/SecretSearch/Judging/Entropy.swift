internal import Glibc

/// How evenly a text uses its characters.
enum Entropy {
    /// Shannon's entropy of the bytes' frequencies, in bits for each byte; of the first 1,024 bytes.
    static func bitsPerByte(_ text: SearchText) -> Float {
        let count = min(text.count, 1024)
        guard count > 1 else { return 0 }
        return withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 256) { tally in
            tally.initialize(repeating: 0)
            for position in 0..<count { tally[Int(text.bytes[position])] += 1 }
            var sum: Float = 0
            for position in 0..<count {
                let times = tally[Int(text.bytes[position])]
                guard times > 0 else { continue }
                sum += products[Int(times)]
                tally[Int(text.bytes[position])] = 0
            }
            return products[1] + log2f(Float(count)) - sum / Float(count)
        }
    }

    /// n times log2 n.
    private static let products: [Float] = (0...1024).map { $0 < 2 ? 0 : Float($0) * log2f(Float($0)) }
}
