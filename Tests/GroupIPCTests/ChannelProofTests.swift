import CryptoPrimitives
import Glibc
import SealedState
import Sealing
import SharedFiles
import SystemPackage
import TestSupport
import Testing

@testable import AppGroups
@testable import GroupIPC
@testable import KeyVault

/// Tests of what an end must prove: the group's keys, and a writer's key.
@Suite(.timeLimit(.minutes(10))) struct ChannelProofTests {
    private static func wait(_ sandbox: ChannelSandbox) throws -> SocketWait {
        SocketWait(.seconds(300), try GroupIPCName("c", in: sandbox.ipc.group))
    }

    private func settings(_ sandbox: ChannelSandbox) throws -> ChannelSettings {
        ChannelSettings(
            store: sandbox.store, name: try GroupIPCName("c", in: sandbox.ipc.group), peers: .anyMember,
            maximumMessageSize: 1000)
    }

    private func socket(_ settings: ChannelSettings) throws -> MessageSocket {
        guard let socket = try settings.place().connectAtOnce() else { throw Unanswerable() }
        return MessageSocket(socket, settings.name, settings.largestFrame, firstMessageSize: 49)
    }

    private func handshake(_ key: borrowing SecretBytes, _ prologue: [UInt8]) throws -> NoiseHandshake {
        NoiseHandshake(.initiator, presharedKey: key, prologue: prologue, ephemeral: try .random())
    }

    @Test(arguments: ["foreign keys", "another channel", "another group", "noise", "short", "long", "another version"])
    func whoDoesNotHoldTheKeysIsRefused(_ kind: String) async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing { listener in
            let (settings, wait) = (try settings(sandbox), try Self.wait(sandbox))
            let messages = try socket(settings)
            messages.acceptFullMessages()
            let key = try sandbox.store.vault.channelKey()
            let prologue: [UInt8] =
                switch kind {
                case "another channel": Array("SealedState channel 1\0\(settings.store.group)\0d".utf8)
                case "another group": Array("SealedState channel 1\0group.other\0c".utf8)
                default: settings.prologue
                }
            var noise = try handshake(key.secret, prologue)
            if kind == "foreign keys" { noise = try handshake(SecretBytes.random(count: 32), prologue) }
            var message = try noise.write(kind == "another version" ? [2] : [1])
            if kind == "noise" { message = [UInt8](repeating: 7, count: 49) }
            if kind == "short" { message = [] }
            if kind == "long" { message += [0] }
            try await messages.send(message, wait)
            let code1 = await sandbox.code { _ = try await messages.receive(wait) }
            #expect(code1 == .connectionLost)
            try await sandbox.until { listener.refusedConnections == 1 }
        }
        #expect(sandbox.requests == 0)
    }

    /// A client's connection after the introductions, made by hand.
    private final class RawSession {
        let messages: MessageSocket
        /// Everything that was sent.
        var sent: [[UInt8]]
        /// The listener's message of the handshake.
        let answer: [UInt8]
        var transport: NoiseTransport
        let wait: SocketWait

        init(
            _ messages: MessageSocket, first: [UInt8], answer: [UInt8], _ transport: consuming NoiseTransport,
            _ wait: SocketWait
        ) {
            self.messages = messages
            sent = [first]
            self.answer = answer
            self.transport = transport
            self.wait = wait
        }

        func send(_ frame: ChannelFrame) async throws {
            let sealed = try ChannelSealing.seal(frame, &transport.sending)
            sent.append(sealed)
            try await messages.send(sealed, wait)
        }

        func receive() async throws -> ChannelFrame? {
            guard let sealed = try await messages.receive(wait) else { return nil }
            return try ChannelSealing.open(sealed, &transport.receiving)
        }
    }

    private static let request = ChannelFrame(kind: .request, id: 1, body: Array(#"{"text":"a"}"#.utf8))

    private func session(_ sandbox: ChannelSandbox) async throws -> RawSession {
        let (settings, wait) = (try settings(sandbox), try Self.wait(sandbox))
        let messages = try socket(settings)
        var noise = try handshake(try sandbox.store.vault.channelKey().secret, settings.prologue)
        let first = try noise.write([1])
        try await messages.send(first, wait)
        let answer = try #require(try await messages.receive(wait))
        messages.acceptFullMessages()
        _ = try noise.read(answer)
        let session = RawSession(messages, first: first, answer: answer, noise.transport(), wait)
        try await session.send(ChannelFrame(kind: .introduction, id: 0))
        #expect(try await session.receive()?.kind == .introduction)
        return session
    }

    /// The bytes of a client are sent again to the same listener.
    @Test func aRecordedSessionIsRefused() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing { listener in
            let recorded = try await session(sandbox)
            try await recorded.send(Self.request)
            #expect(try await recorded.receive()?.kind == .reply)
            #expect(sandbox.requests == 1)

            let wait = try Self.wait(sandbox)
            let again = try socket(try settings(sandbox))
            for message in recorded.sent { try? await again.send(message, wait) }
            let answer = try #require(try await again.receive(wait))
            #expect(answer != recorded.answer)
            let code2 = await sandbox.code { _ = try await again.receive(wait) }
            #expect(code2 == .connectionLost)
            try await sandbox.until { listener.refusedConnections == 1 }
        }
        #expect(sandbox.requests == 1)
    }

    /// The listener, not the client, finds that the keys were changed.
    @Test func aRekeyEndsTheUseOfAnOpenConnection() async throws {
        let sandbox = try await ChannelSandbox()
        let listening = try await SealedStore.open(group: sandbox.ipc.group, in: sandbox.ipc.home)
        try await sandbox.whileServing(by: listening) { _ in
            let former = try await session(sandbox)
            try await former.send(Self.request)
            #expect(try await former.receive()?.kind == .reply)
            try sandbox.store.vault.rekey()
            var refused = false
            for number in 2..<1000 where !refused {
                try await former.send(ChannelFrame(kind: .request, id: UInt64(number), body: Self.request.body))
                refused = try await former.receive()?.failure?.code == .rekeyed
                if !refused { try await Task.sleep(for: .milliseconds(10)) }
            }
            #expect(refused)
        }
    }

    /// A client that sends requests and receives no replies.
    @Test func aClientThatDoesNotReceiveIsNotServedOn() async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing({ $0.requests = 4 }) { _ in
            let session = try await session(sandbox)
            let body = Array(#"{"text":"large 500000"}"#.utf8)
            for number in 1...200 {
                let sealed = try ChannelSealing.seal(
                    ChannelFrame(kind: .request, id: UInt64(number), body: body), &session.transport.sending)
                let limit = SocketWait(.milliseconds(200), try GroupIPCName("c", in: sandbox.ipc.group))
                guard (try? await session.messages.send(sealed, limit)) != nil else { break }
            }
            #expect(sandbox.requests <= 8)
        }
    }

    @Test(arguments: ["changed", "repeated", "left out", "another kind"])
    func aFrameThatTheClientDidNotSendNextEndsTheConnection(_ kind: String) async throws {
        let sandbox = try await ChannelSandbox()
        try await sandbox.whileServing { _ in
            let session = try await session(sandbox)
            let frame = kind == "another kind" ? ChannelFrame(kind: .reply, id: 1) : Self.request
            var sealed = try ChannelSealing.seal(frame, &session.transport.sending)
            if kind == "changed" { sealed[sealed.count - 1] ^= 1 }
            if kind == "left out" { sealed = try ChannelSealing.seal(frame, &session.transport.sending) }
            try await session.messages.send(sealed, session.wait)
            if kind == "repeated" {
                #expect(try await session.receive()?.kind == .reply)
                try await session.messages.send(sealed, session.wait)
            }
            let messages = session.messages
            let wait = session.wait
            let code3 = await sandbox.code { _ = try await messages.receive(wait) }
            #expect(code3 == .connectionLost)
        }
        #expect(sandbox.requests == (kind == "repeated" ? 1 : 0))
    }

    /// A process that listens in the place of another one, without the keys.
    @Test(arguments: ["echo", "silence", "end"]) func aListenerWithoutTheKeysGetsNothing(_ kind: String) async throws {
        let sandbox = try await ChannelSandbox()
        let listener = try GroupSocketListener("c", in: sandbox.ipc.container)
        let imposter = Task {
            let connection = try await listener.accept(timeout: .seconds(300))
            guard let first = try await connection.receive(timeout: .seconds(300)) else { return }
            if kind == "echo" { try await connection.send(first) }
            if kind != "end" { _ = try? await connection.receive(timeout: .seconds(300)) }
        }
        let channel = try sandbox.channel()
        let limit: Duration = kind == "silence" ? .milliseconds(200) : .seconds(300)
        let code = await sandbox.failure(channel, Question(text: "a"), timeout: limit)
        #expect(code == (kind == "silence" ? .timeout : .peerUnproven))
        imposter.cancel()
        _ = try? await imposter.value
    }

    // MARK: The vault

    /// A member puts the vault's file away for a moment, and anyone connects meanwhile.
    @Test func aVaultThatIsAwayForAMomentEndsNoListener() async throws {
        let sandbox = try await ChannelSandbox()
        let vault = sandbox.ipc.home.vaultsPath.appending(sandbox.ipc.group.identifier).appending("vault").string
        try await sandbox.whileServing { listener in
            try #require(rename(vault, vault + ".away") == 0)
            let messages = try socket(try settings(sandbox))
            try await messages.send([UInt8](repeating: 7, count: 49), try Self.wait(sandbox))
            try await sandbox.until { listener.keysFailure != nil }
            try #require(rename(vault + ".away", vault) == 0)
            // The look at the files happens once a second.
            try await Task.sleep(for: .milliseconds(1100))
            for number in 0..<3 {
                let channel = try sandbox.channel()
                let answer: Answer = try await channel.call(Question(text: "\(number)"), timeout: .seconds(300))
                #expect(answer.text == "\(number)")
            }
            #expect(listener.keysFailure == nil)
        }
    }

    /// A rekey of the vault that is in the place does not reach the one that was opened.
    @Test func aVaultThatWasMovedAwayProvesNothing() async throws {
        let sandbox = try await ChannelSandbox()
        let vault = sandbox.ipc.home.vaultsPath.appending(sandbox.ipc.group.identifier).string
        _ = try sandbox.store.vault.channelKey()
        let away = sandbox.ipc.base + "/away"
        #expect(rename(vault, away) == 0)
        #expect(throws: VaultError.self) { _ = try sandbox.store.vault.channelKey() }
        #expect(try ChildProcess.run("/bin/cp", ["-a", away, vault]).exitCode == 0)
        #expect(throws: VaultError.self) { _ = try sandbox.store.vault.channelKey() }
    }

    // MARK: Writers

    /// The group's stores: without a writer's key, with that of a writer of the roster, and with one that is not in it.
    private func stores(
        _ sandbox: ChannelSandbox
    ) async throws -> (plain: SealedStore, app: SealedStore, other: SealedStore) {
        let team = try TeamKey.random()
        let app = try WriterKey.random()
        let roster = Roster(
            group: sandbox.ipc.group.identifier, id: SecureRandom.bytes(count: 16).withRawBytes { Bytes16($0) },
            version: 1, signedAt: 1, team: team.publicKey, writers: [Roster.Writer(app.publicKey, label: "app")],
            rules: [Roster.Rule(try GovernedPattern("note"), grants: [app.id: .all])])
        try SystemFile.write(
            sandbox.ipc.path(".sealedstate.roster"), try SignedRoster(signing: roster, with: team).bytes)
        func store(_ key: WriterKey?) async throws -> SealedStore {
            var options = StoreOptions()
            options.teamKey = team.publicKey
            options.writerKey = key
            return try await SealedStore.open(group: sandbox.ipc.group, in: sandbox.ipc.home, options: options)
        }
        return (try await store(nil), try await store(app), try await store(try WriterKey.random()))
    }

    /// The container that was opened may have been moved away: its roster is no longer in force.
    @Test func theRosterIsThatOfThePresentContainer() async throws {
        let sandbox = try await ChannelSandbox()
        let settings = ChannelSettings(
            store: try await stores(sandbox).app, name: try GroupIPCName("c", in: sandbox.ipc.group), peers: .anyMember,
            maximumMessageSize: 1000)
        #expect(try settings.rosterVersion() == 1)
        let place = sandbox.ipc.container.root.path.string
        // Below another directory, where it is not searched for.
        let away = sandbox.ipc.base + "/away"
        #expect(rename(place, away) == 0)
        // The last look counts for a second.
        try await Task.sleep(for: .milliseconds(1100))
        #expect(groupError { _ = try settings.rosterVersion() }?.code == .containerMissing)
        #expect(rename(away, place) == 0)
        // The failure is not remembered.
        #expect(try settings.rosterVersion() == 1)
    }

    @Test func aWriterIsKnownByItsLabel() async throws {
        let sandbox = try await ChannelSandbox()
        let (plain, app, other) = try await stores(sandbox)
        try await sandbox.whileServing(peers: .anyMember, by: app) { _ in
            for (store, label) in [(plain, "-"), (app, "app"), (other, "-")] {
                let channel = try store.channel("c", peers: .writers(["app"]))
                let answer: Answer = try await channel.call(Question(text: "peer"))
                #expect(answer.text == label)
                #expect(try await channel.peer().writer == "app")
            }
        }
        try await sandbox.whileServing(peers: .writers(["app"]), by: plain) { _ in
            for (store, expected) in [(plain, AppGroupError.Code.peerRefused), (other, .peerRefused)] {
                let channel = try store.channel("c")
                let code4 = await sandbox.failure(channel, Question(text: "a"))
                #expect(code4 == expected)
            }
            let answer: Answer = try await app.channel("c").call(Question(text: "peer"))
            #expect(answer.text == "app")
            let wary = try app.channel("c", peers: .writers(["app"]))
            let refused = await sandbox.failure(wary, Question(text: "a"))
            #expect(refused == .peerRefused)
        }
    }

    /// A signature of another handshake, of the other role, and of another key.
    @Test func aWritersProofIsOfOneHandshakeAndOneRole() async throws {
        let sandbox = try await ChannelSandbox()
        let (_, app, other) = try await stores(sandbox)
        let key = try #require(app.options.writerKey)
        let authority = try #require(app.authority)
        let hash = SecureRandom.bytes(count: 64)
        let proof = ChannelIntroduction.body(key, .initiator, hash)
        #expect(try ChannelIntroduction.writer(proof, .initiator, hash, by: authority) == "app")
        #expect(throws: CryptoError.self) {
            try ChannelIntroduction.writer(proof, .responder, hash, by: authority)
        }
        #expect(throws: CryptoError.self) {
            try ChannelIntroduction.writer(proof, .initiator, SecureRandom.bytes(count: 64), by: authority)
        }
        let others = ChannelIntroduction.body(other.options.writerKey, .initiator, hash)
        let forged = Array(proof.prefix(16)) + others.dropFirst(16)
        #expect(throws: CryptoError.self) { try ChannelIntroduction.writer(forged, .initiator, hash, by: authority) }
        #expect(throws: CryptoError.self) {
            try ChannelIntroduction.writer(Array(proof.dropLast()), .initiator, hash, by: authority)
        }
        #expect(try ChannelIntroduction.writer(proof, .initiator, hash, by: nil) == nil)
    }
}
