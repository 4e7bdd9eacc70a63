internal import Dispatch

/// Whose turn it is at one end of a connection: threads stand in a line, tasks ask again, at first each millisecond.
struct SocketTurn: Sendable {
    private let semaphore = DispatchSemaphore(value: 1)

    /// - Throws: `AppGroupError` with `timeout`.
    func take(_ wait: SocketWait) throws(AppGroupError) {
        let limit = wait.remaining.map { DispatchTime.now() + .nanoseconds($0.clampedNanoseconds) } ?? .distantFuture
        if semaphore.wait(timeout: limit) != .success { throw wait.isOver }
    }

    /// - Throws: `AppGroupError` with `timeout`, `cancelled`.
    func take(_ wait: SocketWait) async throws(AppGroupError) {
        var pause = Duration.milliseconds(1)
        while !isTaken() {
            try await wait.pause(pause)
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    private func isTaken() -> Bool { semaphore.wait(timeout: .now()) == .success }

    func end() { semaphore.signal() }
}

extension Duration {
    fileprivate var clampedNanoseconds: Int {
        let part = min(self, .seconds(1 << 31)).components
        return Int(part.seconds) * 1_000_000_000 + Int(part.attoseconds / 1_000_000_000)
    }
}
