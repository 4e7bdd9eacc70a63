/// Whether a header's times are of the present, in a word.
enum Freshness {
    /// How far in the future a stamp may lie, as in a store: clocks are stepped now and then.
    private static let skewMilliseconds: UInt64 = 5000

    static func word(sealedAt: Timestamp, notAfter: Timestamp?, now: Timestamp) -> String {
        if sealedAt.milliseconds > now.milliseconds + skewMilliseconds { return "future" }
        if let notAfter, notAfter <= now { return "expired" }
        return "current"
    }
}
