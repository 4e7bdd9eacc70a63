/// A page, as it lies in the database or in a log.
struct SQLitePage {
    let number: UInt32
    let bytes: CarrierBytes
    /// Where it begins in the file that is being read; nil where it comes from the file beside it.
    let position: Int64?
    /// Whether it is the version of a log.
    let isLogged: Bool

    /// The bytes of the file that a part of the page is; nil for what is not there.
    func range(_ part: Range<Int>) -> Range<Int64>? {
        if part.upperBound > bytes.count { return nil }
        return position.map { $0 + Int64(part.lowerBound)..<$0 + Int64(part.upperBound) }
    }
}
