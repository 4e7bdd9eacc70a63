internal import ArgumentParser
internal import CryptoPrimitives
internal import KeyVault
internal import SharedFiles

/// The source of a passphrase: the terminal, a file, or an open descriptor. It is never an argument.
enum PassphraseSource: Sendable {
    case terminal
    case file(String)
    case descriptor(DescriptorNumber)

    /// Returns `nil` if no passphrase was requested.
    init?(isPrompted: Bool, file: String?, descriptor: DescriptorNumber?) {
        if let descriptor {
            self = .descriptor(descriptor)
        } else if let file {
            self = file == "-" ? .descriptor(.standardInput) : .file(file)
        } else if isPrompted {
            self = .terminal
        } else {
            return nil
        }
    }

    /// - Parameters:
    ///   - subject: The subject of the passphrase, as the prompt shows it.
    ///   - isNew: True for a new passphrase, which is asked for twice.
    ///   - word: The name of the secret in the prompt.
    func read(for subject: String, isNew: Bool, as word: String = "Passphrase") throws(Failure) -> Passphrase {
        switch self {
        case .terminal: try PassphrasePrompt(subject: subject).ask(twice: isNew, word)
        case .file(let path): try Failure.onVault { () throws(VaultError) in try Passphrase(contentsOf: path) }
        case .descriptor(let number): try number.readPassphrase()
        }
    }
}

/// The number of a file descriptor that the parent process has opened for this program.
struct DescriptorNumber: ExpressibleByArgument, Sendable {
    static let standardInput = DescriptorNumber(value: 0)

    let value: Int32

    private init(value: Int32) { self.value = value }

    init?(argument: String) {
        // Reading a passphrase from the program's own output is a typing error.
        guard let value = Int32(argument), value == 0 || value > 2 else { return nil }
        self.value = value
    }

    /// Reads the first line byte by byte, so that the next reader gets the rest. The line must arrive within
    /// `Descriptor.inputLimit`; a terminal has no time limit.
    fileprivate func readPassphrase() throws(Failure) -> Passphrase {
        let descriptor = value == 0 ? Descriptor.standardInput : Descriptor(owning: value, path: "descriptor \(value)")
        let deadline = ContinuousClock.now + Descriptor.inputLimit
        let line = try SecretLine.read(limit: Passphrase.maximumSize + 1) { byte throws(Failure) in
            do throws(FileError) { return try descriptor.readSome(into: byte, until: deadline) == 1 } catch {
                throw Failure(error)
            }
        }
        return try Failure.onVault { () throws(VaultError) in
            try line.bytes.withUnsafeBytes { line throws(VaultError) in
                // Editors of other systems end lines with two characters.
                let end = line.last == 0x0D ? line.count - 1 : line.count
                return try Passphrase(copying: UnsafeRawBufferPointer(rebasing: line[..<end]))
            }
        }
    }
}
