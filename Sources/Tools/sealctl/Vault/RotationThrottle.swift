internal import ArgumentParser
internal import SealedState

/// How much a rotation may do in a second: `50` blobs, or `512K`, `10M`, `1G` bytes.
struct RotationThrottle: ExpressibleByArgument, Sendable {
    private enum Limit: Sendable {
        case blobs(Double)
        case bytes(Double)
    }

    private let limit: Limit

    init?(argument: String) {
        let units: [Character: Double] = ["K": 1024, "M": 1_048_576, "G": 1_073_741_824]
        let unit = argument.last.flatMap { units[$0] }
        let digits = unit == nil ? argument[...] : argument.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Double(digits), count > 0, count < 1e15
        else { return nil }
        limit = unit.map { .bytes(count * $0) } ?? .blobs(count)
    }

    func apply(to options: inout RotationOptions) {
        switch limit {
        case .blobs(let count): options.blobsPerSecond = count
        case .bytes(let count): options.bytesPerSecond = count
        }
    }
}
