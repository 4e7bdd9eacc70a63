internal import Glibc

/// How evenly a text uses its characters.
enum Entropy {
    /// Shannon's entropy of the bytes' frequencies, in bits for each byte; of the first 1,024 bytes.
    static func bitsPerByte(_ text: SearchText) -> Float {
        let count = min(text.count, longest)
        guard count > 1 else { return 0 }
        let sum = withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 256) { tally in
            tally.initialize(repeating: 0)
            var sum: Int64 = 0
            for byte in text.bytes[..<count] {
                let times = tally[Int(byte)]
                sum &+= steps[Int(times)]
                tally[Int(byte)] = times &+ 1
            }
            return sum
        }
        return logarithms[count] - Float(Double(sum) / unit) / Float(count)
    }

    private static let longest = 1024
    /// Whole numbers, so that the sum does not depend on the order of the bytes.
    private static let unit = Double(1 << 40)

    /// By how much n log2 n grows when n does, in parts of `unit`.
    private static let steps: [Int64] = {
        let products = (0...longest).map { $0 < 2 ? 0 : Int64(Double($0) * log2(Double($0)) * unit) }
        return zip(products, products.dropFirst()).map { $1 - $0 }
    }()
    private static let logarithms: [Float] = (0...longest).map { $0 < 2 ? 0 : log2f(Float($0)) }
}
