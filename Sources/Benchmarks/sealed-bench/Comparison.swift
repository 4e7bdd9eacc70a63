import Glibc

/// Two implementations of the same operation, measured in turns.
///
/// No benchmark package: those measure one body after the other, and on a busy machine the minutes in between differ
/// more than the bodies do. Here each round runs A B B A, so that a drift of the machine affects both sides alike, and
/// the result is the median of the rounds' ratios.
struct Comparison {
    /// The times of one operation, by round.
    private(set) var ours: [Times] = []
    private(set) var peers: [Times] = []

    var ourMedian: Double { ours.median.wall }
    var peerMedian: Double { peers.median.wall }
    var ratio: Double { zip(ours, peers).map { $0.wall / $1.wall }.median }
    var processorRatio: Double { zip(ours, peers).map { $0.processor / $1.processor }.median }
    /// The additional time of ours.
    var difference: Times { zip(ours, peers).map { $0 - $1 }.median }

    /// Runs rounds in which each side runs twice, each time often enough to fill a slice of time.
    ///
    /// - Parameters:
    ///   - rounds: The number of rounds.
    ///   - slice: The minimum seconds of one turn; a turn is at least one call.
    ///   - calls: The number of operations in one call of a body.
    ///   - cleanUp: Runs after each turn, unmeasured.
    init(
        rounds: Int, slice: Double = 0.002, ours ourBody: () throws -> Void, peer peerBody: () throws -> Void,
        calls operations: Int = 1, after cleanUp: () -> Void = {}
    ) throws {
        func turn(_ body: () throws -> Void, _ calls: Int) throws -> Times {
            defer { cleanUp() }
            return try Stopwatch.times { for _ in 0..<calls { try body() } }
        }
        // The runs that determine the number of calls also warm up.
        var calls = 1
        while try turn(peerBody, calls).wall < slice { calls *= 2 }
        _ = try turn(ourBody, calls)
        for _ in 0..<rounds {
            try Interruption.check()
            let first = try turn(ourBody, calls)
            let second = try turn(peerBody, calls) + turn(peerBody, calls)
            let last = try turn(ourBody, calls)
            ours.append((first + last) / Double(2 * calls * operations))
            peers.append(second / Double(2 * calls * operations))
        }
    }

    /// Returns the median times of one call, without a comparison.
    static func time(rounds: Int, _ body: () throws -> Void) throws -> Times {
        try body()
        return try (0..<rounds).map { _ in try Stopwatch.times(body) }.median
    }
}

/// The time of some work, in seconds.
struct Times {
    /// The time from start to end.
    var wall: Double
    /// The processor time on all cores, of this process and of the children that it has waited for.
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

/// A clock that is never set back: clock_gettime(2), `CLOCK_MONOTONIC`.
enum Stopwatch {
    static func now() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// Returns the time that `body` takes.
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
    /// The middle value, or the mean of the two middle ones. NaN for an empty array.
    var median: Double {
        let sorted = sorted()
        guard let last = sorted.last else { return .nan }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + Swift.min(sorted[middle], last)) / 2
    }
}
