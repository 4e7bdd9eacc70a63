internal import AccountShared
internal import FoundationEssentials
internal import SealedState

/// The account as the app sees it. What the widget may know of it, it writes to the store.
struct Account {
    let store: SealedStore

    /// Does what a command asks for and returns what was written.
    func obey(_ command: Command) throws -> Written {
        switch command {
        case .signIn(let name, let seconds):
            try write(.signedIn(as: name, until: Date() + seconds))
        case .signInFromFile(let path):
            try write(StateFile(path: path).read())
        case .refresh(let seconds):
            try refresh(seconds: seconds)
        case .signOut:
            try write(.signedOut)
        }
    }

    private func write(_ state: WidgetAuthState) throws(StoreError) -> Written {
        Written(sequence: try store.write(state), state: state)
    }

    /// A new token for the same person: read, change and write under the record's lock, expired or not.
    private func refresh(seconds: Double) throws -> Written {
        var written = WidgetAuthState.signedOut
        let sequence = try store.update(WidgetAuthState.self) { state in
            if state.isAuthenticated { state.tokenExpiresAt = Date() + seconds }
            written = state
        }
        return Written(sequence: sequence, state: written)
    }
}
