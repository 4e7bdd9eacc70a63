internal import AppGroups
internal import KeyVault
internal import SealedState
internal import Synchronization

/// Answers one request in its encoded form.
typealias ChannelAnswer = @Sendable ([UInt8], GroupPeer) async throws(ChannelFailure) -> [UInt8]

/// The listener's end of a connection, with the requests that are being answered.
final class ChannelAnswers: Sendable {
    private struct Request: Sendable {
        let task: Task<Void, Never>
        /// The reply is being sent.
        var isAnswered = false
    }

    private let connection: ChannelConnection
    private let peer: GroupPeer
    private let limits: SealedChannelListener.Limits
    private let answer: ChannelAnswer
    private let requests = Mutex<[UInt64: Request]>([:])

    init(
        _ connection: ChannelConnection, _ peer: GroupPeer, _ limits: SealedChannelListener.Limits,
        _ answer: @escaping ChannelAnswer
    ) {
        self.connection = connection
        self.peer = peer
        self.limits = limits
        self.answer = answer
    }

    /// Answers until the peer leaves, breaks the protocol, or the task is cancelled. Then no answer is in progress.
    func run() async {
        let wait = SocketWait(nil, connection.settings.name)
        while let frame = (try? await connection.receive(wait)) ?? nil, await accept(frame) {}
        connection.close()
        let rest = requests.withLock { $0.values.map(\.task) }
        for task in rest { task.cancel() }
        for task in rest { await task.value }
    }

    /// Returns whether the connection goes on: the peer keeps to the protocol, and receives its replies.
    private func accept(_ frame: ChannelFrame) async -> Bool {
        switch frame.kind {
        case .request: return await begin(frame)
        case .cancel:
            requests.withLock { requests in
                guard let request = requests[frame.id], !request.isAnswered else { return }
                request.task.cancel()
            }
            return true
        case .introduction, .reply, .failure: return false
        }
    }

    private func begin(_ frame: ChannelFrame) async -> Bool {
        guard let root = try? connection.settings.store.vault.channelRoot() else { return false }
        if root != connection.root || connection.rosterVersion != connection.settings.rosterVersion {
            return await send(.failure(ChannelFailure(code: .rekeyed), of: frame.id))
        }
        guard await hasRoom() else { return false }
        enum Start { case begun, busy, repeated }
        let start = requests.withLock { requests -> Start in
            if requests[frame.id] != nil { return .repeated }
            if requests.values.count(where: { !$0.isAnswered }) >= limit { return .busy }
            requests[frame.id] = Request(task: Task { await self.reply(to: frame) })
            return .begun
        }
        if start == .busy { return await send(.failure(ChannelFailure(code: .busy), of: frame.id)) }
        return start != .repeated
    }

    private var limit: Int { max(1, limits.requests) }

    /// Waits while as many replies as requests are allowed have not been received by the peer: no memory is used for
    /// more. Returns `false` if the connection has to end.
    private func hasRoom() async -> Bool {
        let wait = SocketWait(nil, connection.settings.name)
        while requests.withLock({ $0.count }) >= 2 * limit {
            do throws(AppGroupError) { try await wait.pause(.milliseconds(5)) } catch { return false }
        }
        return true
    }

    private func reply(to request: ChannelFrame) async {
        let frame: ChannelFrame
        do throws(ChannelFailure) {
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
        let isWanted = requests.withLock { requests in
            requests[request.id]?.isAnswered = true
            return !Task.isCancelled
        }
        if isWanted, !(await send(frame)) { connection.close() }
        requests.withLock { $0[request.id] = nil }
    }

    /// Sends a frame; returns whether the peer receives in time.
    private func send(_ frame: ChannelFrame) async -> Bool {
        let wait = SocketWait(ChannelConnection.patience, connection.settings.name)
        do throws(AppGroupError) { try await connection.send(frame, wait) } catch { return false }
        return true
    }
}
