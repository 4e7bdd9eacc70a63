internal import SealedState
internal import Sealing

/// Whether a header's times are of the present, in a word.
enum Freshness {
    /// How far in the future a stamp may lie, as in a store: clocks are stepped now and then.
    private static let skewMilliseconds: UInt64 = 5000

    /// By the wall clock alone: all that can be said of a header that nobody has verified.
    static func word(sealedAt: Timestamp, notAfter: Timestamp?, now: Timestamp) -> String {
        if sealedAt.milliseconds > now.milliseconds + skewMilliseconds { return "future" }
        if let notAfter, notAfter <= now { return "expired" }
        return "current"
    }

    /// As a read judges a verified header: what had expired stays so when the clock is set back.
    static func word(of header: BlobHeader, judgedBy store: SealedStore) -> String {
        do throws(StoreError) {
            try store.checkFreshness(of: header, named: store.group.identifier, at: store.options.now())
            return "current"
        } catch {
            return error.code == .notYetValid ? "future" : "expired"
        }
    }
}
