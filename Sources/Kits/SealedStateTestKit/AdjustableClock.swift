public import FoundationEssentials
internal import Synchronization

/// A clock that stands still until a test moves it.
public final class AdjustableClock: Sendable {
    private let time: Mutex<Date>

    /// A clock that shows a time; the present unless stated.
    public init(_ start: Date = Date()) { time = Mutex(start) }

    /// What it shows.
    public var now: Date {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    /// Moves it forward, or back for a negative duration.
    public func advance(by duration: Duration) {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        time.withLock { $0 += seconds }
    }
}
