internal import Glibc
internal import SealedState

/// A message of the commands below.
struct ProbeMessage: SealedRecord {
    static let recordName = "handed"
    static let schemaVersion = 1
    var text: String
}

private func mailbox(
    _ store: SealedStore, as producer: String? = nil
) throws(StoreError) -> SealedStore.Mailbox<ProbeMessage> {
    var options = SealedStore.MailboxOptions()
    options.maximumWaiting = 100_000
    options.maximumAttempts = 1_000_000
    options.retryDelay = .zero
    return try store.mailbox(of: ProbeMessage.self, as: producer, options: options)
}

/// `mail-send HOME GROUP PRODUCER FIRST COUNT durable|unsynced`: sends messages whose texts are numbers from FIRST on.
///
/// Prints `sent TEXT` after each, or the error's code.
func mailSendCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 6, let first = Int(arguments[3]), let count = Int(arguments[4]) else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        let box = try mailbox(store, as: arguments[2])
        let durability: Durability = arguments[5] == "unsynced" ? .unsynced : .durable
        for number in first..<first + count {
            try box.send(ProbeMessage(text: "\(number)"), durability: durability)
            say("sent \(number)")
        }
    }
}

/// `mail-handle HOME GROUP COUNT`: takes messages and acknowledges them. Prints `PRODUCER TEXT first|again LOST` for
/// each, then `acknowledged`, or the error's code.
func mailHandleCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let count = Int(arguments[2]) else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        let box = try mailbox(store)
        let taken = try box.take(upTo: count)
        for delivery in taken { say(line(delivery)) }
        try box.acknowledge(taken)
        say("acknowledged")
    }
}

/// `mail-settle HOME GROUP reject|retry`: takes two messages and makes the first one a dead letter, or gives it back.
///
/// Prints a line of `mail-handle` for each, then `settled`, or the error's code.
func mailSettleCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        let box = try mailbox(store)
        let taken = try box.take(upTo: 2)
        for delivery in taken { say(line(delivery)) }
        guard let first = taken.first else { return }
        if arguments[2] == "reject" {
            try box.reject(first, because: "no use")
        } else {
            try box.retry(first, because: "not now")
        }
        say("settled")
    }
}

/// `mail-reset HOME GROUP`: discards all messages; prints `reset COUNT`, or the error's code.
func mailResetCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2 else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        say("reset \(try MailboxAccess(ProbeMessage.recordName, in: store, .init()).reset())")
    }
}

/// `mail-work HOME GROUP LOG`: takes and acknowledges messages until its input ends.
///
/// Before it acknowledges a batch it appends to LOG the line of `mail-handle` and the number of each message, and then
/// `PRODUCER acknowledged NUMBER`. A line that a kill has cut has no dot at its end.
func mailWorkCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    let log = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    func append(_ lines: [String]) {
        let text = lines.map { "\n\($0) ." }.joined() + "\n"
        _ = text.withCString { write(log, $0, strlen($0)) }
    }
    return onStore(arguments) { store throws(StoreError) in
        let box = try mailbox(store)
        while !inputHasEnded() {
            do throws(StoreError) {
                let taken = try box.take()
                if taken.isEmpty {
                    usleep(2000)
                    continue
                }
                append(taken.map { "\(line($0)) \($0.id.number)" })
                try box.acknowledge(taken)
                append(taken.map { "\($0.id.producer) acknowledged \($0.id.number)" })
            } catch {
                guard [.leaseLost, .lockTimeout].contains(error.code) else { throw error }
            }
        }
    }
}

private func line(_ delivery: SealedStore.Mailbox<ProbeMessage>.Delivery) -> String {
    "\(delivery.id.producer) \(delivery.message.text) \(delivery.isRedelivery ? "again" : "first") "
        + "\(delivery.lostBefore)"
}
