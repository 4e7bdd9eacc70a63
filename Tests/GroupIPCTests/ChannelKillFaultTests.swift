import Glibc
import GroupIPC
import SealedState
import TestSupport
import Testing

@testable import AppGroups

/// Listeners that are killed at any system call between the arrival of a request and the end of its reply: the client
/// receives the whole reply or an error that says that the listener has gone, and the next listener answers.
@Suite(.enabled(if: TracedProcess.isPossible, "needs the right to trace"), .timeLimit(.minutes(30)))
struct ChannelKillFaultTests {
    /// A sweep over the calls of a listener.
    struct Sweep: Sendable, CustomStringConvertible {
        /// The bytes that a reply has beyond its question: a large one is sent in parts.
        let size: Int
        /// The request is the first one of its connection, so that the handshake is swept as well.
        let connects: Bool
        let step: Int

        var description: String { "\(size) bytes\(connects ? ", connecting" : "")" }
    }

    private static let sweeps =
        isLongForm
        ? [false, true].flatMap { connects in [0, 900_000].map { Sweep(size: $0, connects: connects, step: 1) } }
        : [Sweep(size: 0, connects: false, step: 1), Sweep(size: 900_000, connects: false, step: 7)]

    /// The process has gone: an open connection has ended, or no new one is answered.
    private static let losses: Set<AppGroupError.Code> = [.connectionLost, .nobodyListens, .peerUnproven]

    private static let killer =
        #filePath.split(separator: "/").dropLast(2).map { "/\($0)" }.joined()
        + "/Support/kill_at_call.py"

    /// Starts a listener that is killed at a call after SIGUSR1.
    private func listener(_ sandbox: ChannelSandbox, killedAt number: Int) throws -> ChildProcess {
        let words = ["channel-serve", sandbox.ipc.root, sandbox.ipc.group.identifier, "c"]
        let process = try ChildProcess(
            Python.path, [Self.killer, "\(number)", builtProduct("sealed-probe")] + words)
        #expect(try process.readLine() == "listening", "\(number)")
        return process
    }

    /// Asks, and returns the code of the error; nil if the reply is the right one.
    private func ask(
        _ channel: SealedChannel, _ word: String, _ size: Int
    ) async -> AppGroupError.Code? {
        do throws(AppGroupError) {
            let text = "\(size) \(word)"
            let answer: Answer = try await channel.call(Question(text: text), timeout: .seconds(60))
            #expect(answer.text == text + String(repeating: "x", count: size), "\(word)")
            return nil
        } catch {
            return error.code
        }
    }

    /// One number after the other, until a listener has made fewer calls than that and lives: the long form leaves
    /// no call out.
    @Test(arguments: sweeps) func killingAListenerLosesItsReplyWhole(_ sweep: Sweep) async throws {
        let sandbox = try await ChannelSandbox()
        let channel = try sandbox.channel()
        var outcomes: Set<Bool> = []
        var number = 1
        while number < 20_000 {
            let process = try listener(sandbox, killedAt: number)
            if !sweep.connects {
                // After the first round it also shows that a listener in the place of a killed one answers.
                let code = await ask(channel, "before \(number)", 0)
                #expect(code == nil, "\(number)")
            }
            process.kill(SIGUSR1)
            try #require(try process.readLine() == "tracing")
            let loss = await ask(channel, "during \(number)", sweep.size)
            if let loss { #expect(Self.losses.contains(loss), "\(number): \(loss)") }
            outcomes.insert(loss == nil)
            let isKilled = loss != nil || (try? process.readLine(timeLimit: .milliseconds(400))) == "killed"
            if !isKilled {
                // Its next calls would reach the number.
                _ = try process.finish()
                break
            }
            // The kernel has closed its sockets then.
            if loss != nil { #expect(try process.readLine() == "killed", "\(number)") }
            _ = try process.finish()
            if sweep.connects { channel.close() }
            number += sweep.step
        }
        #expect(outcomes == [true, false] && (10..<20_000).contains(number))
        let last = try listener(sandbox, killedAt: .max)
        let code = await ask(channel, "after", 0)
        #expect(code == nil)
        _ = try last.finish()
    }
}
