internal import ArgumentParser
internal import AuditReports
internal import FoundationEssentials
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// `sealctl mailbox`: the queues of messages of a group.
struct MailboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mailbox",
        abstract: "Send, take and acknowledge the messages between a group's programs.",
        discussion: """
            A message is delivered until a reader acknowledges it, and never after that. Messages of one producer \
            arrive in order. PRODUCER/NUMBER names a message.

            Examples:
              echo '{"photo":"a.jpg"}' | sealctl mailbox send inbox -
              sealctl mailbox list
              sealctl mailbox take inbox --ack
            """,
        subcommands: [
            MailboxSendCommand.self, MailboxListCommand.self, MailboxPeekCommand.self, MailboxTakeCommand.self,
            MailboxAckCommand.self, MailboxDeadCommand.self, MailboxResetCommand.self,
        ])
}

/// The group, the keys and the mailbox of a command.
struct MailboxTarget: ParsableArguments {
    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "The mailbox's name.")
    var name: String
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions

    /// - Parameter producer: The name to send under.
    func open(as producer: String = "sealctl") throws(Failure) -> (store: SealedStore, mailbox: MailboxAccess) {
        let group = try groupOptions.appGroup()
        _ = try Failure.onStore { () throws(StoreError) in try MailboxName(name) }
        let store = try keyOptions.openStore(of: group)
        return try Failure.onStore { () throws(StoreError) in
            (store, try MailboxAccess(name, as: producer, in: store, SealedStore.MailboxOptions()))
        }
    }
}

/// `sealctl mailbox send`.
struct MailboxSendCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send JSON as a message.",
        discussion: """
            The message is stored when the command succeeds. Readers get it in the order of its producer.

            Examples:
              sealctl mailbox send inbox message.json
              sealctl mailbox send inbox message.json --as share --expires-in 1d
            """)

    @OptionGroup var target: MailboxTarget
    @Argument(help: "The JSON; - is standard input.", completion: .file())
    var file: String
    @Option(help: ArgumentHelp("The producer to send as; sealctl unless stated.", valueName: "PRODUCER"))
    var `as` = "sealctl"
    @Option(
        parsing: .unconditional, help: ArgumentHelp("The version of the message's type, 1 or more.", valueName: "N"),
        transform: PutCommand.version)
    var schemaVersion: UInt32 = 1
    @Option(
        help: ArgumentHelp("When it expires: 30s, 15m, 1h, 2d or 1w from now.", valueName: "TIME"),
        transform: Lifetime.init(parsing:))
    var expiresIn: Lifetime?
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let input = try InputFile(file)
        let (store, mailbox) = try target.open(as: `as`)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let payload = try PutCommand.payload(input, store.options, schemaVersion, expiresIn, nil)
        defer { payload.wipe() }
        let id = try Failure.onStore { () throws(StoreError) in try mailbox.send(payload) }
        let fields: [(String, JSONText)] = [("mailbox", .string(target.name)), ("id", .string(id.description))]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : id.description)
    }
}

/// `sealctl mailbox list`.
struct MailboxListCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List a group's mailboxes, and what waits in them.",
        discussion: """
            One line for each producer of each mailbox. OLDEST is the time of the first message that waits. The \
            numbers are those that the files claim; only a reader verifies them.

            Examples:
              sealctl mailbox list --group group.com.example.app
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let store = try keyOptions.openStore(of: groupOptions.appGroup())
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        var lines: [(mailbox: String, status: MailLaneStatus)] = []
        for mailbox in store.mailboxes {
            let statuses = try Failure.onStore { () throws(StoreError) in
                try MailboxAccess(mailbox.name, as: "sealctl", in: store, SealedStore.MailboxOptions()).status()
            }
            lines += statuses.map { (mailbox.name, $0) }
        }
        try StandardStreams.print(
            output.json ? JSONText.array(lines.map { Self.json($0, $1) }).text : table(lines))
    }

    private func table(_ lines: [(mailbox: String, status: MailLaneStatus)]) -> String {
        var table = TextTable([
            .init(title: "MAILBOX"), .init(title: "PRODUCER"), .init(title: "WAITING", isNumber: true),
            .init(title: "DEAD", isNumber: true), .init(title: "SIZE", isNumber: true), .init(title: "OLDEST"),
        ])
        for (mailbox, status) in lines {
            table.add([
                mailbox.cell, status.producer.cell, "\(status.waiting)", "\(status.dead)", "\(status.size)",
                status.oldest.map { Timestamp($0).word } ?? "-",
            ])
        }
        return table.text
    }

    private static func json(_ mailbox: String, _ status: MailLaneStatus) -> JSONText {
        JSONText.object([
            ("mailbox", .string(mailbox)), ("producer", .string(status.producer)),
            ("waiting", .number(status.waiting)), ("dead", .number(status.dead)), ("size", .number(status.size)),
            ("oldest", .optional(status.oldest.map { Timestamp($0).rfc3339 })),
        ])
    }
}

extension MailView {
    /// One line of JSON.
    var line: String {
        JSONText.object([
            ("id", .string(id.description)), ("sentAt", .string(Timestamp(sentAt).rfc3339)),
            ("expiresAt", .optional(notAfter == 0 ? nil : Timestamp(notAfter).rfc3339)),
            ("schemaVersion", .unsigned(UInt64(schemaVersion))), ("isRedelivery", .bool(isRedelivery)),
            ("failedAttempts", .number(failedAttempts)), ("lostBefore", .number(lostBefore)), ("message", message),
        ]).text
    }

    /// The JSON of the message in one line, or its bytes in Base64 for another codec.
    var message: JSONText {
        guard codec == .json else { return .string(Data(payload).base64EncodedString()) }
        return .oneLine(payload)
    }
}

extension JSONText {
    /// JSON in one line, with escapes for the characters that change how a terminal shows others.
    static func oneLine(_ json: some Collection<UInt8>) -> JSONText {
        // A string of JSON has no line feed or tab: each of them is space between values.
        let isSpace: Set<UInt8> = [0x09, 0x0A, 0x0D]
        let text = String(decoding: json.map { isSpace.contains($0) ? 0x20 : $0 }, as: UTF8.self)
        // Only strings have characters beyond ASCII, and DEL.
        guard text.unicodeScalars.contains(where: isHidden) else { return .verbatim(text) }
        return .verbatim(
            text.unicodeScalars.reduce(into: "") { shown, scalar in
                guard isHidden(scalar) else { return shown.unicodeScalars.append(scalar) }
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            })
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        let hidden: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
        return hidden.contains(scalar.properties.generalCategory)
    }
}

/// `sealctl mailbox peek`.
struct MailboxPeekCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "peek",
        abstract: "Show messages that wait, without taking them.",
        discussion: """
            Prints one line of JSON for each message, as take does.

            Examples:
              sealctl mailbox peek inbox | jq .message
            """)

    @OptionGroup var target: MailboxTarget
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The largest number of messages; 100 unless stated.", valueName: "N"))
    var limit: UInt16 = 100
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let (store, mailbox) = try target.open()
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let views = try Failure.onStore { () throws(StoreError) in try mailbox.waitingViews(upTo: Int(limit)) }
        for view in views { try StandardStreams.print(view.line) }
    }
}

/// `sealctl mailbox take`.
struct MailboxTakeCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "take",
        abstract: "Take messages that wait, and print them.",
        discussion: """
            Prints one line of JSON for each message. Without --ack they are delivered again, marked as isRedelivery, \
            unless mailbox ack names them. With --ack they are acknowledged when they were printed.

            Examples:
              sealctl mailbox take inbox --ack | jq .message
              sealctl mailbox take inbox --limit 1
            """)

    @OptionGroup var target: MailboxTarget
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The largest number of messages, at most 100; 100 unless stated.", valueName: "N"))
    var limit: UInt16 = 100
    @Flag(help: "Acknowledge the messages that were printed.")
    var ack = false
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let (store, mailbox) = try target.open()
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let views = try Failure.onStore { () throws(StoreError) in try mailbox.takeViews(upTo: Int(limit)) }
        for view in views { try StandardStreams.print(view.line) }
        guard ack else { return }
        try Failure.onStore { () throws(StoreError) in try mailbox.acknowledge(views.map(\.id)) }
    }
}

/// `sealctl mailbox ack`.
struct MailboxAckCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "ack",
        abstract: "Acknowledge messages that were taken, or give them back.",
        discussion: """
            An acknowledged message is never delivered again. --retry gives messages back, and --dead keeps them for a \
            person. Messages that were not delivered stay as they are.

            Examples:
              sealctl mailbox ack inbox share/7 share/8
              sealctl mailbox ack inbox share/9 --retry 'no network'
            """)

    @OptionGroup var target: MailboxTarget
    @Argument(help: "The messages: PRODUCER/NUMBER, as take prints them.", transform: Self.id)
    var ids: [SealedStore.MailboxMessageID]
    @Option(help: ArgumentHelp("Give them back, for that reason.", valueName: "REASON"))
    var retry: String?
    @Option(help: ArgumentHelp("Make them dead letters, for that reason.", valueName: "REASON"))
    var dead: String?
    @OptionGroup(title: "Global options") var output: OutputOptions

    static func id(_ text: String) throws -> SealedStore.MailboxMessageID {
        guard let id = SealedStore.MailboxMessageID(text) else {
            throw ValidationError("a message is PRODUCER/NUMBER, such as share/7")
        }
        return id
    }

    func validate() throws {
        guard retry == nil || dead == nil else { throw ValidationError("Give one of --retry and --dead.") }
    }

    func perform() throws(Failure) {
        let (store, mailbox) = try target.open()
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        try Failure.onStore { () throws(StoreError) in
            if let retry { return try mailbox.retry(ids, because: retry) }
            if let dead { return try mailbox.reject(ids, because: dead) }
            try mailbox.acknowledge(ids)
        }
    }
}

/// `sealctl mailbox dead`.
struct MailboxDeadCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Show the messages that no reader could handle, or discard them.",
        discussion: """
            Prints one line of JSON for each dead letter, with the reason. --discard removes the named ones for good. \
            To deliver one again, send its message and discard it.

            Examples:
              sealctl mailbox dead inbox
              sealctl mailbox dead inbox --discard share/9
            """)

    @OptionGroup var target: MailboxTarget
    @Option(
        help: ArgumentHelp("Discard a dead letter; can be repeated.", valueName: "PRODUCER/NUMBER"),
        transform: MailboxAckCommand.id)
    var discard: [SealedStore.MailboxMessageID] = []
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let (store, mailbox) = try target.open()
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        if !discard.isEmpty {
            return try Failure.onStore { () throws(StoreError) in try mailbox.discard(discard) }
        }
        for letter in try Failure.onStore({ () throws(StoreError) in try mailbox.deadViews() }) {
            let fields: [(String, JSONText)] = [
                ("id", .string(letter.id.description)), ("reason", .string(letter.reason)),
                ("since", .string(Timestamp(letter.since).rfc3339)),
                ("message", letter.message?.message ?? .null),
            ]
            try StandardStreams.print(JSONText.object(fields).text)
        }
    }
}

/// `sealctl mailbox reset`.
struct MailboxResetCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Discard all messages of a mailbox.",
        discussion: """
            Also for a mailbox whose record is missing or refused: without it no program knows which messages are \
            handled. Producers continue with their numbers. The command asks first, unless --yes is given.

            Examples:
              sealctl mailbox reset inbox
            """)

    @OptionGroup var target: MailboxTarget
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let (store, mailbox) = try target.open()
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        try confirmation.require("discard all messages of \(target.name)", [])
        let count = try Failure.onStore { () throws(StoreError) in try mailbox.reset() }
        let fields: [(String, JSONText)] = [("mailbox", .string(target.name)), ("discarded", .number(count))]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : "\(count) messages discarded")
    }
}
