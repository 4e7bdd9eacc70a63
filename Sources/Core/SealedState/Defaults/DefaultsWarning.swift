internal import SharedFiles

/// What works and should not stay so.
public enum DefaultsWarning: Hashable, Sendable, CustomStringConvertible {
    /// A value is larger than a setting should be: everybody who reads any value of the suite reads it.
    case largeValue(key: String, size: Int, suite: String)
    /// The suite's file was gone without a deletion, although its state of that sequence had been accepted. The change begins
    /// the suite anew; what was in it before is lost.
    case beganAnew(suite: String, sequence: UInt64)

    /// One sentence on what was found, and one on what to do.
    public var description: String {
        switch self {
        case .largeValue(let key, let size, let suite):
            "The value of \(key.printable) in the suite \(suite) has \(size) bytes. Keep it in a record or a file of its own."
        case .beganAnew(let suite, let sequence):
            "The file of the suite \(suite) was gone, though sequence \(sequence) of it was accepted; it begins anew. "
                + "Find out what removed it."
        }
    }
}
