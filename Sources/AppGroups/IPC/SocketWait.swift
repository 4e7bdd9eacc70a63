internal import SharedFiles

/// Until when a call waits for a socket, and whether it still wants to.
struct SocketWait {
    private let deadline: SuspendingClock.Instant?
    private let name: GroupIPCName
    private let isCancelled: (() -> Bool)?

    /// - Parameter isCancelled: Asked about twenty times a second.
    init(_ limit: Duration?, _ name: GroupIPCName, isCancelled: (() -> Bool)?) {
        deadline = limit.map { SuspendingClock.now + $0 }
        self.name = name
        self.isCancelled = isCancelled
    }

    /// What is left; nil without a limit.
    var remaining: Duration? { deadline.map { max(.zero, $0 - SuspendingClock.now) } }

    /// Waits once.
    ///
    /// - Throws: `AppGroupError` with `timeout`, `cancelled`.
    func step(_ events: Int16, at socket: borrowing Descriptor) throws(AppGroupError) {
        if isCancelled?() == true { throw .waiting(.cancelled, name) }
        let remaining = remaining
        if remaining == .zero { throw .waiting(.timeout, name) }
        let slice = isCancelled == nil ? remaining : min(remaining ?? .milliseconds(50), .milliseconds(50))
        LocalSocket.wait(for: events, at: socket, slice)
    }
}

extension AppGroupError {
    static func lost(_ name: GroupIPCName, _ reason: String) -> Self {
        .ipc(
            .connectionLost, "talk through", name.description, reason,
            "Connect again; what was sent may or may not have been received.")
    }
}
