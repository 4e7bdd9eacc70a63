internal import KeyVault

/// What the user's unlocking makes available, by class; the same in every command.
struct UnlockView {
    private let status: VaultStatus
    private let now: Timestamp

    init(_ status: VaultStatus, at now: Timestamp = .now) {
        self.status = status
        self.now = now
    }

    var fields: [(String, JSONText)] {
        [
            ("afterFirstUnlock", json(status.afterFirstUnlock)), ("whenUnlocked", json(status.whenUnlocked)),
            ("isAfterFirstUnlockOpen", .bool(status.afterFirstUnlock.isUnlocked || status.availability == .ready)),
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
