internal import Synchronization

/// What others have told one observer since it last asked: between the monitor's thread and the task that iterates.
final class ToldChanges: Sendable {
    /// What may be another one than before.
    struct Marks {
        /// Paths as they are watched.
        var paths: Set<String> = []
        /// Whether the container may be another one.
        var container = false
        /// Whether keys may have come or gone.
        var vault = false
        /// Whether an alarm has rung or somebody has set the clock.
        var clock = false
    }

    let signal = ChangeSignal()
    private let marks = Mutex(Marks())

    /// Marks first and raises then: whoever is woken finds the mark.
    func mark(_ change: (inout Marks) -> Void) {
        marks.withLock { change(&$0) }
        signal.raise()
    }

    func take() -> Marks {
        marks.withLock { marks in
            defer { marks = Marks() }
            return marks
        }
    }
}
