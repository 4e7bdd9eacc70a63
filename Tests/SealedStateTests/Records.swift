import FoundationEssentials
import SealedState
import Synchronization

/// The record of the documentation that an app shares with its widget.
struct WidgetAuthState: SealedRecord, Equatable {
    static let recordName = "widget_auth_state"
    static let schemaVersion = 1
    var isAuthenticated: Bool
    var displayName: String?
    var tokenExpiresAt: Date?
    var expiresAt: Date? { isAuthenticated ? tokenExpiresAt : nil }
}

/// A record with a rule of its own, and an optional expiry.
struct Note: SealedRecord, Equatable {
    static let recordName = "note"
    static let schemaVersion = 3
    static let oldestReadableVersion = 2
    static let maximumAge: Duration? = .seconds(3600)
    static let forbidden = "forbidden"

    var text: String
    var number = 0
    var expiresAt: Date?

    func validate() throws(ValidationFailure) {
        guard text != Self.forbidden else { throw ValidationFailure("text", "Some words are not allowed.") }
    }
}

/// Counts how often it is decoded; for one test only.
struct Watched: SealedRecord {
    static let recordName = "watched"
    static let schemaVersion = 3
    static let oldestReadableVersion = 2
    private static let count = Mutex(0)
    static var decodings: Int { count.withLock { $0 } }

    init() {}
    init(from decoder: any Decoder) throws { Self.count.withLock { $0 += 1 } }
    func encode(to encoder: any Encoder) throws { try [0].encode(to: encoder) }
}

/// The record that `sealed-probe` writes.
struct ProbeRecord: SealedRecord, Equatable {
    static let recordName = "probe"
    static let schemaVersion = 1
    var number: Int
    var text = ""
}
