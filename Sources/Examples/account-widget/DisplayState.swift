internal import AccountShared
internal import FoundationEssentials
internal import SealedState

/// The states of the widget's display.
enum DisplayState: Equatable {
    /// No state was shared yet.
    case placeholder
    case signedIn(name: String, until: Date)
    case expired
    case signedOut
    /// The record exists, and the store rejects it.
    case refused(code: StoreError.Code, reason: String)

    /// Creates the state that shows an update.
    init(_ update: RecordUpdate<WidgetAuthState>) {
        switch update.outcome {
        case .value(let snapshot): self.init(snapshot.value)
        case .absent: self = .placeholder
        case .rejected(let error) where error.code == .stale: self = .expired
        case .rejected(let error): self = .refused(code: error.code, reason: error.reason)
        }
    }

    private init(_ state: WidgetAuthState) {
        // The rules of the record guarantee both while a user is signed in.
        guard state.isAuthenticated, let name = state.displayName, let expiry = state.tokenExpiresAt else {
            self = .signedOut
            return
        }
        self = .signedIn(name: name, until: expiry)
    }
}

extension DisplayState: CustomStringConvertible {
    var description: String {
        switch self {
        case .placeholder: "placeholder: Sign in to see your account here"
        case .signedIn(let name, let expiry): "signed-in: \(name), until \(expiry.ISO8601Format())"
        case .expired: "expired: The sign-in has expired, open the app"
        case .signedOut: "signed-out: You are signed out"
        case .refused(let code, let reason): "refused \(code.rawValue): \(reason)"
        }
    }
}

/// The widget's output: a line whenever its state changes.
actor Display {
    private var shown: DisplayState?

    /// Shows an update of the record. Its expiry needs no timer here: the store reports it.
    func show(_ update: RecordUpdate<WidgetAuthState>) {
        let displayState = DisplayState(update)
        guard displayState != shown else { return }
        printLine("\(displayState)")
        shown = displayState
    }
}
