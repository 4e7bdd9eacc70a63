internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// Asks for a passphrase on the terminal, whatever the standard streams are, without showing it.
struct PassphrasePrompt {
    let group: AppGroup

    /// - Parameter twice: For a new one: a typing error would lock the vault for good.
    func ask(twice: Bool) throws(Failure) -> Passphrase {
        let terminal = try HiddenTerminal.open()
        let first = try terminal.line("Passphrase for \(group): ")
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
private struct HiddenTerminal: ~Copyable {
    private let descriptor: Descriptor
    private let former: termios

    /// Opens the terminal and switches its echo off.
    static func open() throws(Failure) -> HiddenTerminal {
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
        var count = 0
        var isComplete = false
        let room = SecretBytes(count: Passphrase.maximumSize + 1) { buffer in
            while !isComplete, let base = buffer.baseAddress {
                // A longer line is read to its end and refused by its length.
                let place = base + min(count, buffer.count - 1)
                guard Interruption.awaitInput(descriptor.rawValue), Glibc.read(descriptor.rawValue, place, 1) == 1
                else { return }
                isComplete = place.load(as: UInt8.self) == 0x0A
                if !isComplete { count += 1 }
            }
        }
        guard isComplete else {
            throw Failure(.unavailable, "noPassphrase", "no passphrase was typed", hint: "Try again.")
        }
        let size = min(count, Passphrase.maximumSize + 1)
        return room.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[0..<size])) }
    }
}
