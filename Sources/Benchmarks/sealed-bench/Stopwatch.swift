import Glibc

/// Time that is never set back: clock_gettime(2), `CLOCK_MONOTONIC`.
enum Stopwatch {
    static func now() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// Seconds that `body` takes.
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return Double(now() - start) / 1e9
    }
}

extension [Double] {
    /// The middle value; the mean of the two middle ones where there are two. Of nothing: NaN.
    var median: Double {
        let sorted = sorted()
        guard let last = sorted.last else { return .nan }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + Swift.min(sorted[middle], last)) / 2
    }
}
