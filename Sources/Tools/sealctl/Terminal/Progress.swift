internal import Glibc
internal import Synchronization

/// The progress of a long job, on standard error. It is shown only on a terminal, and only after a second.
final class Progress: Sendable {
    private struct State {
        var done: Int64 = 0
        var next: ContinuousClock.Instant
        var hasShown = false
    }

    private let label: String
    private let total: Int64?
    private let isOn = StandardStreams.errorsAreTerminal
    private let state: Mutex<State>

    /// - Parameter total: The number of bytes, if it is known.
    init(_ label: String, total: Int64?) {
        self.label = label
        self.total = total
        state = Mutex(State(next: ContinuousClock.now + .seconds(1)))
    }

    deinit {
        let wasShown = state.withLock { $0.hasShown }
        if wasShown { Self.write("\r\u{1B}[K") }
    }

    /// Counts processed bytes.
    func advance(_ count: Int) {
        guard isOn else { return }
        state.withLock { state in
            state.done += Int64(count)
            let done = state.done
            show(text(done), &state)
        }
    }

    /// Shows the progress of a job that counts by itself.
    func show(_ text: @autoclosure () -> String) {
        guard isOn else { return }
        state.withLock { show(text(), &$0) }
    }

    private func show(_ text: @autoclosure () -> String, _ state: inout State) {
        let now = ContinuousClock.now
        guard now >= state.next else { return }
        state.next = now + .milliseconds(200)
        state.hasShown = true
        Self.write("\r\(label) \(text())\u{1B}[K")
    }

    private func text(_ done: Int64) -> String {
        guard let total, total > 0 else { return "\(done >> 20) MiB" }
        return "\(done >> 20) of \(total >> 20) MiB, \(min(100, done * 100 / total)) %"
    }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
    }
}
