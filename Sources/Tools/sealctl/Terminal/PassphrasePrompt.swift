internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// Asks for a passphrase on the terminal, whatever the standard streams are, without showing it.
struct PassphrasePrompt {
    /// What it is for: a group, or a file.
    let subject: String

    /// - Parameters:
    ///   - twice: For a new one: a typing error would lock the vault for good.
    ///   - word: What is asked for.
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

/// The controlling terminal with its echo off; it comes back when this ends.
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
                .unavailable, "noTerminal", "there is no terminal to ask for the passphrase on",
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

    /// One line without its end, straight into guarded memory.
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
