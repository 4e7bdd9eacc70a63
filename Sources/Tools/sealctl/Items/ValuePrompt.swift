internal import CryptoPrimitives
internal import Glibc
internal import KeyVault

/// Asks for an item's value on the terminal, twice and without showing it: nobody sees a typing error.
struct ValuePrompt {
    /// Whose value it is.
    let subject: String

    func ask() throws(Failure) -> ItemValue {
        let terminal = try HiddenTerminal.open()
        let first = try line(terminal, "Value for \(subject): ")
        let second = try line(terminal, "The same again: ")
        guard first.isEqual(to: second) else {
            throw Failure(.dataError, "valuesDiffer", "the two values differ", hint: "Try again.")
        }
        guard first.count <= Passphrase.maximumSize else {
            throw Failure(
                .dataError, VaultError.Code.tooLarge.rawValue, "what was typed is longer than 1024 bytes",
                hint: "Try --value-file FILE.")
        }
        return ItemValue(first)
    }

    private func line(_ terminal: borrowing HiddenTerminal, _ prompt: String) throws(Failure) -> SecretBytes {
        do throws(Failure) { return try terminal.line(prompt) } catch {
            guard error.code == "noPassphrase" else { throw error }
            throw Failure(.unavailable, "noValue", "no value was typed", hint: "Try again, or --value-file FILE.")
        }
    }
}

extension StandardStreams {
    static var inputIsTerminal: Bool { isatty(0) == 1 }
}
