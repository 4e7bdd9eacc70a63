import Glibc

/// The time that some work took, in seconds.
struct Times {
    /// From start to end.
    var wall: Double
    /// On all cores together, of this process and of the children that it has waited for.
    var processor: Double

    static func / (times: Times, count: Double) -> Times {
        Times(wall: times.wall / count, processor: times.processor / count)
    }

    static func + (left: Times, right: Times) -> Times {
        Times(wall: left.wall + right.wall, processor: left.processor + right.processor)
    }

    static func - (left: Times, right: Times) -> Times {
        Times(wall: left.wall - right.wall, processor: left.processor - right.processor)
    }
}

/// Time that is never set back: clock_gettime(2), `CLOCK_MONOTONIC`.
enum Stopwatch {
    static func now() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// The time that `body` takes.
    static func times(_ body: () throws -> Void) rethrows -> Times {
        let (start, processor) = (now(), processorTime())
        try body()
        return Times(wall: Double(now() - start) / 1e9, processor: processorTime() - processor)
    }

    private static func processorTime() -> Double {
        var own = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own)
        var children = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &children)
        return Double(own.tv_sec) + Double(own.tv_nsec) / 1e9 + seconds(children.ru_utime) + seconds(children.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

extension [Times] {
    /// The medians of both.
    var median: Times { Times(wall: map(\.wall).median, processor: map(\.processor).median) }
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
