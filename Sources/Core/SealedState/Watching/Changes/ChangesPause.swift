internal import FoundationEssentials

/// When something that failed for a passing trouble is tried again: after a second at first, then after twice as long each
/// time.
struct ChangesPause: Sendable {
    private static let longest = 60.0
    private var seconds = 1.0

    mutating func next() -> Double {
        defer { seconds = min(seconds * 2, Self.longest) }
        return seconds
    }
}

/// Tells that somebody has set the clock: it shows another time than the one since the start of the machine would have made
/// of it.
struct ClockJumps: Sendable {
    /// Less is how far clocks are corrected all the time.
    private static let tolerance = 0.25
    private var wall: Date
    private var steady = ContinuousClock.now

    init(_ options: StoreOptions) { wall = options.now() }

    /// Whether it was set since the last call.
    mutating func hasJumped(_ options: StoreOptions) -> Bool {
        let expected = wall + (ContinuousClock.now - steady).seconds
        (wall, steady) = (options.now(), ContinuousClock.now)
        return abs(wall.timeIntervalSince(expected)) > Self.tolerance
    }
}
