import CryptoPrimitives
import Dispatch
import Glibc
import SealedState
import SharedFiles
import Synchronization
import TestSupport
import Testing

@testable import AppGroups
@testable import GroupIPC
@testable import KeyVault

struct Question: Codable, Sendable, Equatable {
    var text: String
}

struct Answer: Codable, Sendable, Equatable {
    var text: String
    var number = 0
}

struct Unanswerable: Error, CustomStringConvertible {
    let description = "no such thing"
}

/// A listener of a channel in this process, which answers as the question says.
final class ChannelSandbox: Sendable {
    let ipc: IPCSandbox
    let store: SealedStore
    private let handled = Atomic(0)
    private let ended = Atomic(0)
    private let gate = DispatchSemaphore(value: 0)

    init() async throws {
        ipc = try IPCSandbox()
        store = try await SealedStore.open(group: ipc.group, in: ipc.home)
    }

    /// The number of requests that reached the answer.
    var requests: Int { handled.load(ordering: .sequentiallyConsistent) }
    /// The number of answers that were cancelled.
    var cancellations: Int { ended.load(ordering: .sequentiallyConsistent) }

    /// Ends the answers that block, and those to come.
    func open() { gate.signal() }

    func channel(peers: PeerRule = .anyMember, limit: Int = SealedChannel.defaultMessageSize) throws -> SealedChannel {
        try store.channel("c", peers: peers, maximumMessageSize: limit)
    }

    /// `wait` waits until it is cancelled, `block` blocks its thread until `open`, `fail` throws, `peer` names the peer's
    /// process, `large N` returns N bytes.
    private func answer(_ question: Question, _ peer: GroupPeer) async throws -> Answer {
        handled.add(1, ordering: .sequentiallyConsistent)
        let words = question.text.split(separator: " ")
        switch words.first {
        case "wait":
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
            ended.add(1, ordering: .sequentiallyConsistent)
            return Answer(text: "too late")
        case "block":
            gate.wait()
            gate.signal()
            return Answer(text: "open")
        case "fail": throw Unanswerable()
        case "peer": return Answer(text: peer.writer ?? "-", number: Int(peer.processID))
        case "large": return Answer(text: String(repeating: "x", count: Int(words[1]) ?? 0))
        default: return Answer(text: question.text)
        }
    }

    func serve(_ listener: SealedChannelListener) -> Task<AppGroupError?, Never> {
        Task {
            do throws(AppGroupError) {
                try await listener.serve { (question: Question, peer) in try await self.answer(question, peer) }
                return nil
            } catch {
                return error
            }
        }
    }

    /// Runs a body while a listener answers; then no answer is in progress.
    func whileServing(
        peers: PeerRule = .anyMember, _ change: (inout SealedChannelListener.Limits) -> Void = { _ in },
        by store: SealedStore? = nil, _ body: (SealedChannelListener) async throws -> Void
    ) async throws {
        var limits = SealedChannelListener.Limits()
        change(&limits)
        let listener = try (store ?? self.store).channelListener("c", peers: peers, limits: limits)
        let serving = serve(listener)
        do { try await body(listener) } catch {
            listener.close()
            _ = await serving.value
            throw error
        }
        listener.close()
        #expect(await serving.value == nil)
    }

    /// Waits until a condition holds, at most for minutes.
    func until(_ condition: () -> Bool) async throws {
        for _ in 0..<60_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(2))
        }
        Issue.record("the condition never held")
    }

    /// Returns the code of a call's error; nil if there is a reply.
    func failure(
        _ channel: SealedChannel, _ request: some Encodable & Sendable, timeout: Duration = .seconds(300)
    ) async -> AppGroupError.Code? {
        do throws(AppGroupError) {
            let _: Answer = try await channel.call(request, timeout: timeout)
            return nil
        } catch {
            return error.code
        }
    }

    /// Returns the code of the error that a call must throw.
    func code(_ body: () async throws -> Void) async -> AppGroupError.Code? {
        do { try await body() } catch { return (error as? AppGroupError)?.code }
        return nil
    }
}
