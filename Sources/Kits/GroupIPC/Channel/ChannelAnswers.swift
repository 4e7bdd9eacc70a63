internal import AppGroups
internal import KeyVault
internal import SealedState
internal import Synchronization

/// Answers one request in its encoded form.
typealias ChannelAnswer = @Sendable ([UInt8], GroupPeer) async throws(ChannelFailure) -> [UInt8]

/// The listener's end of a connection, with the requests that are being answered.
///
/// The thread that receives a request runs its task at once (`SocketPoll`).
final class ChannelAnswers: Sendable {
    private struct Request: Sendable {
        /// Nil for a request that is refused as busy.
        let task: Task<Void, Never>?
        /// The reply is being sent.
        var isAnswered: Bool
        /// The peer does not wait for the reply.
        var isWithdrawn = false
    }

    private struct State: Sendable {
        /// The requests whose reply has not been sent.
        var requests: [UInt64: Request] = [:]
        /// The peer has to receive replies before more requests are received.
        var isPaused = false
        var isOver = false

        /// The request of this task was withdrawn, or the connection or the listener ends.
        func isUnwanted(_ id: UInt64) -> Bool { isOver || Task.isCancelled || requests[id]?.isWithdrawn ?? true }
    }

    private let connection: ChannelConnection
    private let peer: GroupPeer
    private let limit: Int
    private let answer: ChannelAnswer
    private let executor: SocketPoll
    private let state = Mutex(State())

    /// - Parameters:
    ///   - limit: The requests that are answered at a time.
    ///   - executor: The threads that answer. Another one than the shared one is for tests.
    init(
        _ connection: ChannelConnection, _ peer: GroupPeer, limit: Int, on executor: SocketPoll = .shared,
        _ answer: @escaping ChannelAnswer
    ) {
        self.connection = connection
        self.peer = peer
        self.limit = max(1, min(limit, 1 << 20))
        self.executor = executor
        self.answer = answer
    }

    /// Answers until the peer leaves, breaks the protocol, or the task is cancelled. Then no answer is in progress.
    func run() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                connection.follow({ self.accept($0) }, ended: { _ in continuation.resume() })
            }
        } onCancel: {
            connection.close()
        }
        let rest = state.withLock { state in
            state.isOver = true
            return state.requests.values.compactMap(\.task)
        }
        for task in rest { IPCThreads.cancellations.cancel(task) }
        for task in rest { await task.value }
    }

    private func accept(_ frame: ChannelFrame) -> ChannelConnection.Demand {
        switch frame.kind {
        case .request: return begin(frame)
        case .cancel:
            let task = state.withLock { state -> Task<Void, Never>? in
                guard let request = state.requests[frame.id], !request.isAnswered, !request.isWithdrawn else {
                    return nil
                }
                state.requests[frame.id]?.isWithdrawn = true
                return request.task
            }
            if let task { IPCThreads.cancellations.cancel(task) }
            return .next
        case .introduction, .reply, .failure: return .end
        }
    }

    private func begin(_ frame: ChannelFrame) -> ChannelConnection.Demand {
        enum Start { case begun, busy, repeated }
        let start = state.withLock { state -> Start in
            if state.isOver || state.requests[frame.id] != nil { return .repeated }
            if state.requests.values.count(where: { !$0.isAnswered }) >= limit {
                state.requests[frame.id] = Request(task: nil, isAnswered: true)
                return .busy
            }
            let task = Task(executorPreference: executor) { await self.reply(to: frame) }
            state.requests[frame.id] = Request(task: task, isAnswered: false)
            return .begun
        }
        switch start {
        case .repeated: return .end
        case .busy: send(.failure(ChannelFailure(code: .busy), of: frame.id))
        case .begun: break
        }
        // No memory is used for more replies than this, if the peer does not receive them.
        return state.withLock { state in
            state.isPaused = state.requests.count >= 2 * limit
            return state.isPaused ? .pause : .next
        }
    }

    private func reply(to request: ChannelFrame) async {
        // It may have been withdrawn while it waited for a thread.
        if state.withLock({ $0.isUnwanted(request.id) }) { return remove(request.id) }
        let frame: ChannelFrame
        do throws(ChannelFailure) {
            try requirePresentKeys()
            let body = try await answer(request.body, peer)
            let limit = connection.settings.maximumMessageSize
            guard body.count <= limit else {
                throw ChannelFailure(code: .tooLarge, reason: "the reply has more than \(limit) bytes")
            }
            frame = ChannelFrame(kind: .reply, id: request.id, body: body)
        } catch {
            frame = .failure(error, of: request.id)
        }
        // A peer that withdrew the request does not wait for it.
        let isUnwanted = state.withLock { state in
            state.requests[request.id]?.isAnswered = true
            return state.isUnwanted(request.id)
        }
        if isUnwanted { remove(request.id) } else { send(frame) }
    }

    /// May look at the files of the vault and of the container. Ends the connection if the present root or roster cannot
    /// be determined.
    private func requirePresentKeys() throws(ChannelFailure) {
        let isPresent: Bool
        do throws(AppGroupError) { isPresent = try connection.hasPresentKeys() } catch {
            connection.close(error)
            throw ChannelFailure(code: .rekeyed)
        }
        if !isPresent { throw ChannelFailure(code: .rekeyed) }
    }

    /// Sends a reply. The connection ends if the peer does not receive it in time.
    private func send(_ frame: ChannelFrame) {
        connection.send(frame, by: .now + ChannelConnection.patience) { _ in self.remove(frame.id) }
    }

    private func remove(_ id: UInt64) {
        let goesOn = state.withLock { state in
            state.requests[id] = nil
            guard state.isPaused, state.requests.count < 2 * limit else { return false }
            state.isPaused = false
            return true
        }
        if goesOn { connection.receive { self.accept($0) } }
    }
}
