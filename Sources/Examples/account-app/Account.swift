internal import AccountShared
internal import FoundationEssentials
internal import GroupIPC
internal import SealedState
internal import Synchronization

/// The account in the app, which writes the widget's part of it to the store.
struct Account {
    let store: SealedStore

    /// Executes a command and returns its result.
    func execute(_ command: Command) async throws -> any CustomStringConvertible {
        switch command {
        case .signIn(let name, let seconds):
            try await write(.signedIn(as: name, until: Date() + seconds))
        case .signInFromFile(let path):
            try await write(StateFile(path: path).read())
        case .refresh(let seconds):
            try await refresh(seconds: seconds)
        case .signOut:
            try await write(.signedOut)
        case .takePictures: try await takePictures()
        case .ask(let name): try await ask(name)
        }
    }

    /// Takes the pictures that the Share Extension has handed over, in their order.
    private func takePictures() async throws -> String {
        let inbox = try store.mailbox(of: HandedPicture.self)
        let deliveries = try await inbox.take()
        var lines: [String] = []
        for delivery in deliveries {
            let picture = try await store.files.read(delivery.message.file)
            lines.append("\(delivery.message.title), \(picture.count) bytes")
        }
        try await inbox.acknowledge(deliveries)
        return "took \(lines.count): \(lines.isEmpty ? "no picture waits" : lines.joined(separator: "; "))"
    }

    /// Asks the helper, if it runs.
    private func ask(_ name: String) async throws -> String {
        let channel = try store.channel(InitialsQuestion.channel)
        let answer = try await channel.call(InitialsQuestion(name: name), returning: InitialsAnswer.self)
        return "answered: \(answer.initials)"
    }

    private func write(_ state: WidgetAuthState) async throws(StoreError) -> Written {
        Written(sequence: try await store.write(state), state: state)
    }

    /// Writes a new token for the same person: reads, changes and writes under the record's lock, expired or not.
    private func refresh(seconds: Double) async throws -> Written {
        let written = Mutex(WidgetAuthState.signedOut)
        let sequence = try await store.update(WidgetAuthState.self) { state in
            if state.isAuthenticated { state.tokenExpiresAt = Date() + seconds }
            written.withLock { [state] in $0 = state }
        }
        return Written(sequence: sequence, state: written.withLock { $0 })
    }
}

/// A written state: `wrote 3 signed-in: Ada, until 2026-11-21T04:30:00Z`.
struct Written: CustomStringConvertible {
    let sequence: UInt64
    let state: WidgetAuthState

    var description: String {
        guard state.isAuthenticated, let name = state.displayName, let expiry = state.tokenExpiresAt else {
            return "wrote \(sequence) signed-out: no user is signed in"
        }
        let (kind, relation) = expiry > Date() ? ("signed-in", "until") : ("expired", "expired at")
        return "wrote \(sequence) \(kind): \(name), \(relation) \(expiry.ISO8601Format())"
    }
}

/// A failure and its reason: `failed absent: No record of that name was written.`
struct Failure: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        description =
            switch error {
            case let error as StoreError: "failed \(error.code.rawValue): \(error.reason)"
            case let error as AppGroupError: "failed \(error.code.rawValue): \(error.reason)"
            case let error as StateFileError: "failed \(error.code.rawValue): \(error.sentence)"
            case let error as UsageError: "failed usage: expected \(error.expected)"
            default: "failed: \(error)"
            }
    }
}
