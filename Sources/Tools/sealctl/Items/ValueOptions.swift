internal import ArgumentParser
internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// The source of an item's new value. It is never an argument, because all users of the machine can read arguments.
struct ValueOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Read the value from FILE, byte for byte; - is standard input.", valueName: "FILE"),
        completion: .file())
    var valueFile: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Read the value from the open file descriptor N, byte for byte.", valueName: "N"))
    var valueFd: DescriptorNumber?

    @Flag(help: "Read only the first line, without its end.")
    var line = false

    func validate() throws {
        guard valueFile == nil || valueFd == nil else {
            throw ValidationError("Give one of --value-file and --value-fd.")
        }
    }

    /// True if a source was stated.
    var isStated: Bool { valueFile != nil || valueFd != nil }

    /// True if the value is asked for on the terminal.
    var isPrompted: Bool { isStandardInput && StandardStreams.inputIsTerminal }

    private var isStandardInput: Bool { valueFile.map { $0 == "-" } ?? (valueFd.map { $0.value == 0 } ?? true) }

    /// Reads the value.
    ///
    /// - Parameters:
    ///   - subject: The item, for the prompt.
    ///   - isJSON: Standard error is for machines.
    func read(for subject: String, asJSON isJSON: Bool) throws(Failure) -> ItemValue {
        if isPrompted { return try ValuePrompt(subject: subject).ask() }
        var value = try read(from: input())
        if !isStated, !line, let isDropped = value.dropFinalLineFeed(), !isJSON {
            ConsoleMessages.note(
                isDropped
                    ? "one line feed at the end is not part of the value; --value-file - keeps it"
                    : "the value is not text: the line feed at its end is part of it")
        }
        guard isStated || value.count > 0 else {
            // A failed command before the pipe must not leave an empty secret behind.
            throw Failure(
                .dataError, "emptyValue", "standard input is empty",
                hint: "For an empty value on purpose: --value-file /dev/null.")
        }
        return value
    }

    private func read(from input: InputFile) throws(Failure) -> ItemValue {
        line ? try ItemValue(firstLineOf: input) : try ItemValue(contentsOf: input)
    }

    private func input() throws(Failure) -> InputFile {
        guard let number = valueFd?.value, number != 0 else { return try InputFile(valueFile) }
        try Self.requireInherited(number)
        return try Failure.onFiles { () throws(FileError) in
            try InputFile(owning: Descriptor(owning: number, path: "descriptor \(number)"))
        }
    }

    /// Refuses a descriptor of this process: without this check a wrong number could be one of its own files. Its own
    /// files are closed on exec; inherited descriptors are not.
    private static func requireInherited(_ number: Int32) throws(Failure) {
        let flags = fcntl(number, F_GETFD)
        guard flags < 0 || flags & FD_CLOEXEC != 0 else { return }
        throw Failure(
            .usage, "noDescriptor", "file descriptor \(number) is not open",
            hint: "Open it for sealctl: --value-fd \(number) \(number)<FILE.")
    }
}

/// Asks for an item's value on the terminal, twice, because the value is hidden and a typing error would go unnoticed.
struct ValuePrompt {
    /// The item whose value is requested.
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
                .dataError, VaultError.Code.tooLarge.rawValue, "the typed value is longer than 1024 bytes",
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

/// An item's value on its way into a vault, in guarded memory.
struct ItemValue: ~Copyable {
    /// The largest value that a vault takes, in bytes.
    static let limit = ItemLimits.standard.valueSize

    private let room: SecretBytes
    /// The value's size in bytes. One more than the limit represents any larger size.
    private(set) var count: Int

    /// Takes a whole secret.
    init(_ secret: consuming SecretBytes) {
        count = secret.count
        room = secret
    }

    /// Reads the rest of the input into guarded memory.
    init(contentsOf input: InputFile) throws(Failure) {
        // The kernel's own files report size 0.
        let expected = input.extent.map { $0.count > 0 ? Int(clamping: $0.count) : Self.limit } ?? Self.limit
        var filled = 0
        let read = try SecretBytes(count: min(expected, Self.limit) + 1) { buffer throws(Failure) in
            try Failure.onFiles { () throws(FileError) in
                while filled < buffer.count {
                    let more = try input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
                    if more == 0 { return }
                    filled += more
                }
            }
            // A file that grows while it is read has no single value.
            guard filled <= expected || expected >= Self.limit else {
                throw Failure(
                    .temporary, "changedMeanwhile", "\(input.name) changed while it was read", hint: "Try again.")
            }
        }
        room = read
        count = filled
    }

    /// Reads the first line without its end. The rest stays in the input.
    init(firstLineOf input: InputFile) throws(Failure) {
        let line = try SecretLine.read(limit: Self.limit) { byte throws(Failure) in
            try Failure.onFiles { () throws(FileError) in try input.read(into: byte) == 1 }
        }
        self.init(line.take())
    }

    /// Leaves out a line feed at the end of a text; returns `false` for another value that ends with one, such as a
    /// binary key, and nil for a value without.
    mutating func dropFinalLineFeed() -> Bool? {
        let count = count
        guard (1...Self.limit).contains(count) else { return nil }
        let isText = room.withUnsafeBytes { room in
            room[count - 1] == 0x0A ? ValueOutput.isText(UnsafeRawBufferPointer(rebasing: room[..<count])) : nil
        }
        if isText == true { self.count -= 1 }
        return isText
    }

    /// Passes the value to the body.
    borrowing func withBytes<Result: ~Copyable>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try room.withUnsafeBytes { room throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }
}
