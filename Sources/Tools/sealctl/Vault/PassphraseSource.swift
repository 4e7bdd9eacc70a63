internal import ArgumentParser
internal import CryptoPrimitives
internal import KeyVault
internal import SharedFiles

/// Where a passphrase comes from: the terminal, a file, or a descriptor that is open already. Never an argument.
enum PassphraseSource: Sendable {
    case terminal
    case file(String)
    case descriptor(DescriptorNumber)

    /// Nil where none was asked for.
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
    ///   - subject: What the passphrase is for, as the prompt says it.
    ///   - isNew: Whether it is being chosen, which asks for it twice.
    ///   - word: What the prompt calls it.
    func read(for subject: String, isNew: Bool, as word: String = "Passphrase") throws(Failure) -> Passphrase {
        switch self {
        case .terminal: try PassphrasePrompt(subject: subject).ask(twice: isNew, word)
        case .file(let path): try Failure.onVault { () throws(VaultError) in try Passphrase(contentsOf: path) }
        case .descriptor(let number): try number.readPassphrase()
        }
    }
}

/// The number of a file descriptor that whoever started the program has opened for it.
struct DescriptorNumber: ExpressibleByArgument, Sendable {
    static let standardInput = DescriptorNumber(value: 0)

    let value: Int32

    private init(value: Int32) { self.value = value }

    init?(argument: String) {
        // Reading a passphrase from the program's own output is a typing error.
        guard let value = Int32(argument), value == 0 || value > 2 else { return nil }
        self.value = value
    }

    /// The first line, read byte by byte, so that the next reader gets what follows. It has to come within
    /// `Descriptor.inputLimit`, unless a terminal is read: its person may take any time.
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
