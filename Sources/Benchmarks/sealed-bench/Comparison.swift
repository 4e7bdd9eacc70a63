/// Two ways of doing the same, measured in turns.
///
/// Its own few lines and no benchmark package: those measure one body after the other, and on a busy machine the
/// minutes in between differ more than the bodies do. Here each round runs A B B A, so that a drift of the machine
/// falls on both sides alike, and the answer is the median of the rounds' ratios.
struct Comparison {
    /// The times of one operation, by round.
    private(set) var ours: [Times] = []
    private(set) var peers: [Times] = []

    var ourMedian: Double { ours.median.wall }
    var peerMedian: Double { peers.median.wall }
    var ratio: Double { zip(ours, peers).map { $0.wall / $1.wall }.median }
    var processorRatio: Double { zip(ours, peers).map { $0.processor / $1.processor }.median }
    /// What ours takes longer.
    var difference: Times { zip(ours, peers).map { $0 - $1 }.median }

    /// Runs rounds in which each side runs twice, each time as often as fills a slice of time.
    ///
    /// - Parameters:
    ///   - rounds: How many rounds.
    ///   - slice: Seconds that one turn shall take; a turn is at least one call.
    ///   - cleanUp: Runs after each turn, unmeasured.
    init(
        rounds: Int, slice: Double = 0.002, ours ourBody: () throws -> Void, peer peerBody: () throws -> Void,
        after cleanUp: () -> Void = {}
    ) throws {
        func turn(_ body: () throws -> Void, _ calls: Int) throws -> Times {
            defer { cleanUp() }
            return try Stopwatch.times { for _ in 0..<calls { try body() } }
        }
        // What runs until the number of calls is known warms up.
        var calls = 1
        while try turn(peerBody, calls).wall < slice { calls *= 2 }
        _ = try turn(ourBody, calls)
        for _ in 0..<rounds {
            try Interruption.check()
            let first = try turn(ourBody, calls)
            let second = try turn(peerBody, calls) + turn(peerBody, calls)
            let last = try turn(ourBody, calls)
            ours.append((first + last) / Double(2 * calls))
            peers.append(second / Double(2 * calls))
        }
    }

    /// The median times of one call, where there is nothing to compare with.
    static func time(rounds: Int, _ body: () throws -> Void) throws -> Times {
        try body()
        return try (0..<rounds).map { _ in try Stopwatch.times(body) }.median
    }
}
