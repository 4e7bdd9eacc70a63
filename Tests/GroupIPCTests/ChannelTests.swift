import Dispatch
import Glibc
import SealedState
import SharedFiles
import Synchronization
import TestSupport
import Testing

@testable import AppGroups
@testable import GroupIPC

/// Tests of requests and replies, and of the ends of both sides.
@Suite(.timeLimit(.minutes(10))) struct ChannelTests {
    @Test func aQuestionGetsItsAnswer() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing { listener in
            let channel = try sandbox.channel()
            let answer: Answer = try await channel.call(Question(text: "tea"))
            #expect(answer == Answer(text: "tea"))
            let peer = try await channel.peer()
            #expect(peer.processID == getpid() && peer.userID == geteuid() && peer.writer == nil)
            #expect(peer.executablePath != nil)
            let mine: Answer = try await channel.call(Question(text: "peer"))
            #expect(mine == Answer(text: "-", number: Int(getpid())))
            #expect(listener.refusedConnections == 0 && !listener.isActivated)
        }
    }

    /// 65,535 bytes are the largest message of Noise.
    @Test(arguments: [0, 65_000, 65_480, 65_500, 65_520, 131_000, 1_000_000])
    func valuesOfEverySizeArrive(_ count: Int) async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing { _ in
            let channel = try sandbox.channel()
            let text = String(repeating: "y", count: count)
            let answer: Answer = try await channel.call(Question(text: text), timeout: .seconds(300))
            #expect(answer.text == text)
        }
    }

    @Test func manyQuestionsAtOnceGetTheirOwnAnswers() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing({ $0.requests = 200 }) { _ in
            let channel = try sandbox.channel()
            let waiting = Task {
                try? await channel.call(Question(text: "wait"), returning: Answer.self, timeout: .seconds(300))
            }
            try await sandbox.until { sandbox.requests == 1 }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let text = "\(number)" + String(repeating: "z", count: number * 100)
                        let answer: Answer = try await channel.call(Question(text: text), timeout: .seconds(300))
                        return answer.text == text
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            waiting.cancel()
            let code1 = await waiting.value
            #expect(code1 == nil)
        }
        #expect(sandbox.requests == 101 && sandbox.cancellations == 1)
    }

    @Test func anAnswerThatThrowsGivesItsReason() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing { _ in
            let channel = try sandbox.channel()
            do throws(AppGroupError) {
                let _: Answer = try await channel.call(Question(text: "fail"))
                Issue.record("a failed request has a reply")
            } catch {
                #expect(error.code == .requestFailed)
                #expect(error.description.contains("no such thing"))
            }
            let answer: Answer = try await channel.call(Question(text: "on"))
            #expect(answer.text == "on")
        }
    }

    @Test func valuesOfAnotherTypeAreRefused() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing { _ in
            let channel = try sandbox.channel()
            let request = await sandbox.failure(channel, ["text": 1])
            #expect(request == .malformedMessage)
            let reply = await sandbox.code { let _: [Int] = try await channel.call(Question(text: "a")) }
            #expect(reply == .malformedMessage)
            let number = await sandbox.failure(channel, ["text": Double.nan])
            #expect(number == .malformedMessage)
        }
        #expect(sandbox.requests == 1)
    }

    @Test func valuesBeyondTheLimitAreRefusedAndTheConnectionGoesOn() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing({ $0.messageSize = 1000 }) { _ in
            let channel = try sandbox.channel(limit: 1000)
            let long = Question(text: String(repeating: "x", count: 1000))
            let code2 = await sandbox.failure(channel, long)
            #expect(code2 == .messageTooLarge)
            let reply = await sandbox.failure(channel, Question(text: "large 1000"))
            #expect(reply == .messageTooLarge)
            let answer: Answer = try await channel.call(Question(text: "a"))
            #expect(answer.text == "a")
        }
    }

    @Test func moreRequestsThanTheLimitAreBusy() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing({ $0.requests = 2 }) { _ in
            let channel = try sandbox.channel()
            let waiting = (0..<2).map { _ in
                Task { try? await channel.call(Question(text: "wait"), returning: Answer.self, timeout: .seconds(300)) }
            }
            try await sandbox.until { sandbox.requests == 2 }
            let code3 = await sandbox.failure(channel, Question(text: "a"))
            #expect(code3 == .peerBusy)
            waiting[0].cancel()
            try await sandbox.until { sandbox.cancellations == 1 }
            // The cancelled answer is about to return.
            var answer: Answer?
            let end = SuspendingClock.now + .seconds(120)
            while answer == nil, SuspendingClock.now < end { answer = try? await channel.call(Question(text: "b")) }
            #expect(answer?.text == "b")
            waiting[1].cancel()
        }
        #expect(sandbox.requests == 3)
    }

    /// More answers block their threads than the machine has cores.
    @Test func answersThatBlockDelayNoOther() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing({ $0.requests = 30 }) { _ in
            let channels = [try sandbox.channel(), try sandbox.channel()]
            let blocked = (0..<50).map { number in
                Task {
                    try await channels[number % 2].call(
                        Question(text: "block"), returning: Answer.self, timeout: .seconds(300))
                }
            }
            try await sandbox.until { sandbox.requests == 50 }
            for (number, channel) in channels.enumerated() {
                let answer: Answer = try await channel.call(Question(text: "\(number)"), timeout: .seconds(300))
                #expect(answer.text == "\(number)")
            }
            let late = await sandbox.failure(channels[0], Question(text: "block"), timeout: .milliseconds(50))
            #expect(late == .timeout)
            sandbox.open()
            for call in blocked { #expect(try await call.value.text == "open") }
        }
        // The last one may have been withdrawn before a thread began with it.
        #expect((52...53).contains(sandbox.requests))
    }

    @Test func aFullListenerTakesTheNextConnectionWhenOneEnds() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing({ $0.connections = 1 }) { _ in
            let (first, second) = (try sandbox.channel(), try sandbox.channel())
            let answer: Answer = try await first.call(Question(text: "a"), timeout: .seconds(300))
            #expect(answer.text == "a")
            let code = await sandbox.failure(second, Question(text: "b"), timeout: .milliseconds(100))
            #expect(code == .timeout)
            first.close()
            let next: Answer = try await second.call(Question(text: "c"), timeout: .seconds(300))
            #expect(next.text == "c")
        }
    }

    @Test(arguments: ["timeout", "cancel", "close"])
    func aRequestThatIsGivenUpEndsItsAnswer(_ kind: String) async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing { _ in
            let channel = try sandbox.channel()
            _ = try await channel.peer(timeout: .seconds(300))
            let limit: Duration = kind == "timeout" ? .seconds(1) : .seconds(300)
            let call = Task {
                await sandbox.failure(channel, Question(text: "wait"), timeout: limit)
            }
            try await sandbox.until { sandbox.requests == 1 }
            if kind == "cancel" { call.cancel() }
            if kind == "close" { channel.close() }
            let expected: [String: AppGroupError.Code] = ["timeout": .timeout, "close": .connectionLost]
            #expect(await call.value == expected[kind] ?? .cancelled)
            try await sandbox.until { sandbox.cancellations == 1 }
        }
    }

    /// A handler of cancellation is the answer's code, and may block.
    @Test func aHandlerOfCancellationDelaysNoOtherRequest() async throws {
        let sandbox = try await ChannelSandbox()
        let listener = try sandbox.store.channelListener("c")
        let gate = DispatchSemaphore(value: 0)
        let entered = Mutex(0)
        let serving = Task {
            try await listener.serve { (question: Question, _) -> Answer in
                guard question.text == "wait" else { return Answer(text: question.text) }
                entered.withLock { $0 += 1 }
                await withTaskCancellationHandler {
                    while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
                } onCancel: {
                    gate.wait()
                }
                return Answer(text: "too late")
            }
        }
        let channel = try sandbox.channel()
        let first = Task { await sandbox.failure(channel, Question(text: "wait")) }
        try await sandbox.until { entered.withLock { $0 } == 1 }
        first.cancel()
        #expect(await first.value == .cancelled)
        let second = await sandbox.failure(channel, Question(text: "a"))
        #expect(second == nil)
        gate.signal()
        listener.close()
        try await serving.value
    }

    @Test func aChannelFindsAListenerThatWasStartedAgain() async throws {
        let sandbox = try await ChannelSandbox()
        let channel = try sandbox.channel()
        let call = { (text: String) async -> AppGroupError.Code? in
            await sandbox.failure(channel, Question(text: text), timeout: .seconds(300))
        }
        let code4 = await call("a")
        #expect(code4 == .nobodyListens)
        try await sandbox.whileServing { _ in #expect(await call("b") == nil) }
        let code5 = await call("c")
        #expect(code5 == .nobodyListens)
        try await sandbox.whileServing { _ in
            let code6 = await call("d")
            #expect(code6 == nil)
            let code7 = await call("e")
            #expect(code7 == nil)
        }
        #expect(sandbox.requests == 3)
    }

    /// The listener ends in the middle of a request, which may have been handled: it is not made again.
    @Test func aRequestIsNotMadeTwice() async throws {
        let sandbox = try await ChannelSandbox()
        let channel = try sandbox.channel()
        let listener = try sandbox.store.channelListener("c")
        let serving = sandbox.serve(listener)
        let call = Task {
            await sandbox.failure(channel, Question(text: "wait"), timeout: .seconds(300))
        }
        try await sandbox.until { sandbox.requests == 1 }
        listener.close()
        let code8 = await serving.value
        #expect(code8 == nil)
        let code9 = await call.value
        #expect(code9 == .connectionLost)
        #expect(sandbox.requests == 1 && sandbox.cancellations == 1)
    }

    @Test func theEndOfTheServingTaskEndsTheAnswers() async throws {
        let sandbox = try await ChannelSandbox()
        let listener = try sandbox.store.channelListener("c")
        let serving = sandbox.serve(listener)
        let channel = try sandbox.channel()
        let call = Task {
            await sandbox.failure(channel, Question(text: "wait"), timeout: .seconds(300))
        }
        try await sandbox.until { sandbox.requests == 1 }
        serving.cancel()
        let code10 = await serving.value
        #expect(code10 == nil)
        #expect(sandbox.cancellations == 1)
        let code11 = await call.value
        #expect(code11 == .connectionLost)
    }

    @Test func aNameHasOneListener() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing { _ in
            #expect(groupError { _ = try sandbox.store.channelListener("c") }?.code == .socketInUse)
        }
        #expect(groupError { _ = try sandbox.store.channel("a/b") }?.code == .invalidIPCName)
    }

    /// A rotation keeps the key of channels; a rekey replaces it, and the next call shakes hands again.
    @Test func channelsGoOnThroughARotationAndARekey() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing { _ in
            let channel = try sandbox.channel()
            let first: Answer = try await channel.call(Question(text: "a"))
            try sandbox.store.rotate()
            let second: Answer = try await channel.call(Question(text: "b"))
            try sandbox.store.vault.rekey()
            let third: Answer = try await channel.call(Question(text: "c"), timeout: .seconds(300))
            #expect([first.text, second.text, third.text] == ["a", "b", "c"])
        }
        #expect(sandbox.requests == 3)
    }

    @Test(arguments: [true, false]) func aRuleRefusesAPeer(_ isClients: Bool) async throws {
        let sandbox = try await ChannelSandbox()
        let rule = PeerRule { $0.processID != getpid() }
        try await sandbox.whileServing(peers: isClients ? .anyMember : rule) { listener in
            let channel = try sandbox.channel(peers: isClients ? rule : .anyMember)
            let refused = await sandbox.failure(channel, Question(text: "a"))
            #expect(refused == .peerRefused)
            if !isClients { try await sandbox.until { listener.refusedConnections == 1 } }
        }
        #expect(sandbox.requests == 0)
    }
}
