internal import AccountShared
internal import FoundationEssentials
internal import SealedState

/// What was written: `wrote 3 signed-in: Ada, until 2026-11-21T04:30:00Z`.
struct Written: CustomStringConvertible {
    let sequence: UInt64
    let state: WidgetAuthState

    var description: String {
        guard state.isAuthenticated, let name = state.displayName, let expiry = state.tokenExpiresAt else {
            return "wrote \(sequence) signed-out: nobody is signed in"
        }
        let (kind, relation) = expiry > Date() ? ("signed-in", "until") : ("expired", "run out since")
        return "wrote \(sequence) \(kind): \(name), \(relation) \(expiry.ISO8601Format())"
    }
}

/// What did not work and why: `failed absent: No record of that name was written.`
struct Failure: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        description =
            switch error {
            case let error as StoreError: "failed \(error.code.rawValue): \(error.reason)"
            case let error as StateFileError: "failed \(error.code.rawValue): \(error.sentence)"
            case let error as Misunderstanding: "failed usage: expected \(error.expected)"
            default: "failed: \(error)"
            }
    }
}
