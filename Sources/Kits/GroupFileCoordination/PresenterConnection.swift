internal import Dispatch
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// An access by another process, as seen by the presenters of this one. It lasts as long as the connection.
final class PresenterConnection: Sendable {
    private let link: PresenterLink
    private let post: PresenterPost
    private let state = Mutex(State())

    // Sources are only made, started and cancelled, which Dispatch allows from any thread. The mutex protects the
    // state.
    private struct State: @unchecked Sendable {
        var source: (any DispatchSourceRead)?
        var delivery: PresenterDelivery?
        var items: [AnnouncedItem] = []
        var hasHeardEvents = false
        var packets = 0
    }

    /// The number of packets after which other connections get their turn.
    private static let packetsAtOnce = 4
    /// The maximum of packets in one access: twice the number for a thousand moves and their writes.
    private static let maximumPackets = 256

    init(_ link: PresenterLink, _ post: PresenterPost) {
        self.link = link
        self.post = post
    }

    var peer: PresenterSocket.Peer { link.peer }

    /// - Parameter ended: called once, when no more messages are received.
    func start(on queue: DispatchQueue, ended: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeReadSource(fileDescriptor: link.socket.rawValue, queue: queue)
        source.setEventHandler { [weak self] in self?.receiveSome() }
        // Retains this object, and with it the descriptor, until the source has released it.
        source.setCancelHandler { [self] in
            finish()
            ended()
        }
        state.withLock { $0.source = source }
        source.activate()
    }

    func close() {
        state.withLock { $0.source }?.cancel()
    }

    /// Receives a few packets. The source calls again for the rest, so one connection never occupies the shared queue.
    private func receiveSome() {
        for _ in 0..<Self.packetsAtOnce {
            switch link.receive() {
            case .nothingYet: return
            case .message where isTalkative: return close()
            case .message(.prepare(let presenters, let items)) where !isAsked: prepare(presenters, items)
            case .message(.events(let events)): notify(events)
            case .message, .ended: return close()
            }
        }
    }

    /// `true` for root and this user, which could do by themselves everything that a presenter could do for them.
    private var isTrusted: Bool { link.peer.user == geteuid() || link.peer.user == 0 }

    /// Counts a packet; `true` if the peer has sent too many.
    private var isTalkative: Bool {
        state.withLock { state in
            state.packets += 1
            return state.packets > Self.maximumPackets
        }
    }

    private var isAsked: Bool { state.withLock { $0.delivery != nil } }

    private func prepare(_ presenters: [UInt64], _ items: [AnnouncedItem]) {
        let delivery = post.delivery(to: presenters, for: items) { [weak self] reason in
            guard let self else { return }
            let isSent = link.send(reason.map { .failed(reason: $0) } ?? .ready)
            if !isSent { close() }
        }
        state.withLock { ($0.delivery, $0.items) = (delivery, items) }
        delivery.advance()
    }

    private func notify(_ events: [ItemEvent]) {
        state.withLock { $0.hasHeardEvents = true }
        post.notify(events.map { isTrusted ? $0 : $0.confined(to: post.domain.scope) })
    }

    private func finish() {
        let state = state.withLock { state in
            defer { (state.source, state.delivery) = (nil, nil) }
            return state
        }
        if !state.hasHeardEvents && state.items.contains(where: { $0.needs.contains(.writing) }) {
            post.look(at: state.items)
        }
        state.delivery?.finish()
    }
}
