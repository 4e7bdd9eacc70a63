internal import KeyVault

/// What the user's unlocking makes available, by class; the same in every command.
struct UnlockView {
    let afterFirstUnlock: UnlockState
    let whenUnlocked: UnlockState
    private let isReady: Bool
    private let now: Timestamp

    /// - Parameter isServiceOpen: Whether the service compartment opens, as far as is known.
    init(_ status: VaultStatus, isServiceOpen: Bool = true, at now: Timestamp = .now) {
        afterFirstUnlock = isServiceOpen ? status.afterFirstUnlock : .locked
        whenUnlocked = status.whenUnlocked
        isReady = isServiceOpen && status.availability == .ready
        self.now = now
    }

    var fields: [(String, JSONText)] {
        [
            ("afterFirstUnlock", json(afterFirstUnlock)), ("whenUnlocked", json(whenUnlocked)),
            ("isAfterFirstUnlockOpen", .bool(afterFirstUnlock.isUnlocked || isReady)),
        ]
    }

    func words(_ state: UnlockState) -> String {
        switch state {
        case .locked: "locked"
        case .unlocked(let left): left.map { "unlocked until \(end($0).short)" } ?? "unlocked"
        }
    }

    private func end(_ left: Duration) -> Timestamp { Timestamp(now.milliseconds + UInt64(left / .milliseconds(1))) }

    private func json(_ state: UnlockState) -> JSONText {
        switch state {
        case .locked: .object([("unlocked", .bool(false)), ("until", .null)])
        case .unlocked(let left):
            .object([("unlocked", .bool(true)), ("until", .optional(left.map { end($0).rfc3339 }))])
        }
    }
}
