#if ProfileSignatures
/// Why a signature does not count, as the rest of a sentence about it.
struct SignatureFault: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
#endif
