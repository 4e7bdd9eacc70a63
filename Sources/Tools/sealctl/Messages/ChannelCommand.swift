internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import GroupIPC
internal import SealedState
internal import SharedFiles

/// `sealctl channel`: questions to the programs of a group, and answers.
struct ChannelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel",
        abstract: "Ask a program of a group, or answer.",
        discussion: """
            Both ends prove that they hold the group's keys, and everything between them is sealed. Nothing is stored: \
            a mailbox keeps what no program takes.

            Examples:
              echo '{"of":"cat.png"}' | sealctl channel call thumbnails -
              sealctl channel serve thumbnails -- /usr/local/bin/thumbnail
            """,
        subcommands: [ChannelCallCommand.self, ChannelServeCommand.self])
}

/// The group, the keys and the name of a channel.
struct ChannelTarget: ParsableArguments {
    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "The channel's name.")
    var name: String
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions

    func openStore() throws(Failure) -> SealedStore { try keyOptions.openStore(of: try groupOptions.appGroup()) }
}

/// `sealctl channel call`.
struct ChannelCallCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Send JSON to the program that listens, and print its reply.",
        discussion: """
            The reply is JSON in one line. A program that cannot answer is an error with its reason.

            Examples:
              sealctl channel call thumbnails request.json
              echo '{}' | sealctl channel call time - --timeout 1s
            """)

    @OptionGroup var target: ChannelTarget
    @Argument(help: "The JSON; - is standard input.", completion: .file())
    var file: String
    @Option(
        help: ArgumentHelp("The longest time to wait; 10s unless stated.", valueName: "TIME"),
        transform: Lifetime.init(parsing:))
    var timeout: Lifetime?
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let input = try InputFile(file)
        let store = try target.openStore()
        let request = try json(input, SealedChannel.defaultMessageSize)
        let channel = try Failure.onGroup { () throws(AppGroupError) in try store.channel(target.name) }
        let limit = timeout.map { Duration.seconds(Int64($0.seconds)) } ?? .seconds(10)
        try UntilSignal.run { () async throws(Failure) in
            let reply: [UInt8]
            do throws(AppGroupError) {
                reply = try await channel.call(json: request, timeout: limit)
                if let peer = try? await channel.peer(timeout: .seconds(1)) {
                    ConsoleMessages.detail("process \(peer.processID) of user \(peer.userID) answered")
                }
            } catch {
                throw Failure(error)
            }
            try StandardStreams.print(JSONText.oneLine(reply.trimmingSpace()).text)
        }
    }

    private func json(_ input: InputFile, _ limit: Int) throws(Failure) -> [UInt8] {
        try input.withContents(limit: limit) { bytes throws(Failure) in
            guard bytes.count <= limit else {
                throw Failure(
                    .dataError, "messageTooLarge", "\(input.name) is not sent: it has more than \(limit) bytes",
                    hint: "Store it as a sealed file, and name that: sealctl file put.")
            }
            do throws(JSONFault) { try JSONChecker.checkInput(bytes, maximumDepth: 64) } catch {
                throw Failure(
                    .dataError, "notJSON",
                    "\(input.name) is not sent: line \(error.line), column \(error.column): \(error.reason)",
                    hint: "Requests are JSON: correct the text there.")
            }
            return Array(bytes)
        }
    }
}

/// `sealctl channel serve`.
struct ChannelServeCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Answer the questions of a group's programs with a program.",
        discussion: """
            The program is started for each request, with the request as its standard input. Its standard output is \
            the reply: JSON. If its exit status is not 0, the request fails with the last line of its standard error \
            as the reason. SEALED_PEER_PID, SEALED_PEER_UID and SEALED_PEER_WRITER say who asks; the last one is empty \
            without a proven writer key. A request that is withdrawn ends the program's process group.

            A program that other users may change is refused, and so are its interpreter and the files that its \
            arguments name. Files that a program opens by itself are not checked.

            A socket that systemd passes for the channel is used instead of one in the group's container.

            Examples:
              sealctl channel serve thumbnails -- /usr/local/bin/thumbnail
              sealctl channel serve time --writer clock -- date +%s
            """)

    @OptionGroup var target: ChannelTarget
    @Option(help: ArgumentHelp("Answer only this writer of the roster; can be repeated.", valueName: "LABEL"))
    var writer: [String] = []
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number of requests that a peer may have at a time; 16 unless stated.", valueName: "N"))
    var requests: UInt8 = 16
    @OptionGroup(title: "Global options") var output: OutputOptions
    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("After --: the program and its arguments.", valueName: "program"))
    var program: [String] = []

    func validate() throws {
        guard program.first.map({ !$0.isEmpty }) ?? false else { throw ValidationError("Name a program after --.") }
        guard requests > 0 else { throw ValidationError("--requests is at least 1.") }
    }

    func perform() throws(Failure) {
        let program = try AnsweringProgram(program, limit: SealedChannel.defaultMessageSize)
        let store = try target.openStore()
        var limits = SealedChannelListener.Limits()
        limits.requests = Int(requests)
        let peers = writer.isEmpty ? PeerRule.anyMember : .writers(writer)
        let listener = try Failure.onGroup { () throws(AppGroupError) in
            try store.channelListener(target.name, peers: peers, limits: limits)
        }
        ConsoleMessages.note(
            listener.isActivated
                ? "Listening at the socket of the service manager." : "Listening as \(target.name).")
        try UntilSignal.run { () async throws(Failure) in
            do throws(AppGroupError) {
                try await listener.serveJSON { request, peer in try await program.answer(request, peer) }
            } catch {
                throw Failure(error)
            }
        }
    }
}

extension [UInt8] {
    /// The bytes without space of JSON at their end.
    fileprivate func trimmingSpace() -> ArraySlice<UInt8> {
        let space: Set<UInt8> = [0x09, 0x0A, 0x0D, 0x20]
        return self[..<(lastIndex { !space.contains($0) }.map { $0 + 1 } ?? startIndex)]
    }
}
