#if ProfileSignatures
/// The reason why a signature is refused, as the rest of a sentence about it.
struct SignatureFault: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
#endif
