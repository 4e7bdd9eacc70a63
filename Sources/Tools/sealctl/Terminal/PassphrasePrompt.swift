internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SharedFiles
internal import Synchronization

/// A question for a passphrase on the terminal, even if the standard streams are redirected. The input is hidden.
struct PassphrasePrompt {
    /// The subject of the passphrase: a group, or a file.
    let subject: String

    /// - Parameters:
    ///   - twice: Asks twice, for a new passphrase. A typing error would lock the vault permanently.
    ///   - word: The name of the secret.
    func ask(twice: Bool, _ word: String = "Passphrase") throws(Failure) -> Passphrase {
        let terminal = try HiddenTerminal.open()
        let first = try terminal.line("\(word) for \(subject.printable): ")
        if twice {
            let second = try terminal.line("The same again: ")
            guard first.isEqual(to: second) else {
                throw Failure(.dataError, "passphrasesDiffer", "the two passphrases differ", hint: "Try again.")
            }
        }
        do throws(VaultError) { return try Passphrase(first) } catch { throw Failure(error) }
    }
}

/// The controlling terminal with its echo off. The end of this value restores the echo.
struct HiddenTerminal: ~Copyable {
    private let descriptor: Descriptor
    private let former: termios

    /// Opens the terminal and switches its echo off.
    static func open() throws(Failure) -> HiddenTerminal {
        try Interaction.require(for: "a secret", hint: "Give it with an option: a file or a descriptor.")
        let opened = Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        var former = termios()
        guard opened >= 0, tcgetattr(opened, &former) == 0 else {
            throw Failure(
                .unavailable, "noTerminal", "there is no terminal for the passphrase question",
                hint: "Try --passphrase-file FILE.")
        }
        Interruption.watch()
        var hidden = former
        hidden.c_lflag &= ~tcflag_t(ECHO)
        hidden.c_lflag |= tcflag_t(ECHONL | ICANON | ISIG)
        tcsetattr(opened, TCSAFLUSH, &hidden)
        return HiddenTerminal(descriptor: Descriptor(owning: opened, path: "/dev/tty"), former: former)
    }

    deinit {
        var former = former
        tcsetattr(descriptor.rawValue, TCSAFLUSH, &former)
        Interruption.deliver()
    }

    /// Reads one line without its end into guarded memory.
    func line(_ prompt: String) throws(Failure) -> SecretBytes {
        let text = Array(prompt.utf8)
        _ = text.withUnsafeBytes { Glibc.write(descriptor.rawValue, $0.baseAddress, $0.count) }
        let line = try SecretLine.read(limit: Passphrase.maximumSize) { byte in
            Interruption.awaitInput(descriptor.rawValue) && Glibc.read(descriptor.rawValue, byte.baseAddress, 1) == 1
        }
        guard line.isEnded else {
            throw Failure(.unavailable, "noPassphrase", "no passphrase was typed", hint: "Try again.")
        }
        return line.take()
    }
}

/// A line of a secret, in guarded memory.
struct SecretLine: ~Copyable {
    /// The line without its end. One byte more than the limit represents any longer line.
    let bytes: SecretBytes
    /// True if a line feed ended the line; otherwise the end of the input did.
    let isEnded: Bool

    /// Reads byte by byte, so that the bytes after the line remain in the input.
    ///
    /// - Parameters:
    ///   - limit: The longest line that the caller takes. A longer one is read to its end.
    ///   - next: Reads one byte; returns `false` at the end of the input.
    static func read(
        limit: Int, next: (UnsafeMutableRawBufferPointer) throws(Failure) -> Bool
    ) throws(Failure) -> SecretLine {
        var count = 0
        var isEnded = false
        let room = try SecretBytes(count: limit + 2) { buffer throws(Failure) in
            while !isEnded {
                let place = UnsafeMutableRawBufferPointer(rebasing: buffer[count...count])
                guard try next(place) else { return }
                isEnded = place[0] == 0x0A
                if !isEnded { count = min(count + 1, limit + 1) }
            }
        }
        let line = room.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        return SecretLine(bytes: line, isEnded: isEnded)
    }

    /// Returns the secret alone.
    consuming func take() -> SecretBytes { bytes }
}

/// Signals that arrive while a terminal's echo is off. They are held back until the echo is restored.
enum Interruption {
    private static let caught = Atomic<Int32>(0)
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Holds the signals back. They are delivered in `awaitInput(_:)` only.
    static func watch() {
        // The counter is initialised here, because a handler must not be the first to do it.
        caught.store(0, ordering: .relaxed)
        change(SIG_BLOCK)
        for number in signals {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { Interruption.caught.store($0, ordering: .relaxed) }
            sigaction(number, &action, nil)
        }
    }

    /// Waits for input. Returns `false` if a signal arrived first.
    ///
    /// The waiting call itself unblocks the signals, so a signal that arrives just before it is not missed.
    static func awaitInput(_ descriptor: Int32) -> Bool {
        var mask = sigset_t()
        sigprocmask(SIG_BLOCK, nil, &mask)
        for number in signals { sigdelset(&mask, number) }
        while caught.load(ordering: .relaxed) == 0 {
            var wanted = fd_set()
            withUnsafeMutableBytes(of: &wanted) { $0[Int(descriptor) / 8] |= 1 << (UInt8(descriptor) % 8) }
            if pselect(descriptor + 1, &wanted, nil, nil, nil, &mask) > 0 { return true }
            if errno != EINTR { return false }
        }
        return false
    }

    /// Lets the signals through again, and ends the process if a signal has arrived.
    static func deliver() {
        for number in signals { _ = signal(number, SIG_DFL) }
        change(SIG_UNBLOCK)
        let number = caught.load(ordering: .relaxed)
        if number != 0 { raise(number) }
    }

    private static func change(_ how: Int32) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in signals { sigaddset(&set, number) }
        sigprocmask(how, &set, nil)
    }
}
