internal import ArgumentParser
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// Where an item's new value comes from. Never an argument: arguments are public to everybody on the machine.
struct ValueOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Take the value from FILE, byte for byte; - is standard input.", valueName: "FILE"),
        completion: .file())
    var valueFile: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Take the value from the open file descriptor N, byte for byte.", valueName: "N"))
    var valueFd: DescriptorNumber?

    @Flag(help: "Take only the first line, without its end.")
    var line = false

    func validate() throws {
        guard valueFile == nil || valueFd == nil else {
            throw ValidationError("Give one of --value-file and --value-fd.")
        }
    }

    /// Whether a source was named.
    var isStated: Bool { valueFile != nil || valueFd != nil }

    /// Whether a person is asked.
    var isPrompted: Bool { isStandardInput && StandardStreams.inputIsTerminal }

    private var isStandardInput: Bool { valueFile.map { $0 == "-" } ?? (valueFd.map { $0.value == 0 } ?? true) }

    /// Reads the value.
    ///
    /// - Parameter subject: Whose it is, for the prompt.
    func read(for subject: String) throws(Failure) -> ItemValue {
        if isPrompted { return try ValuePrompt(subject: subject).ask() }
        let value = try read(from: input())
        guard isStated || value.count > 0 else {
            // A command before the pipe that failed must not leave an empty secret behind.
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

    /// Without this a wrong number could be one of our own files. Those are closed on exec, what we were given is not.
    private static func requireInherited(_ number: Int32) throws(Failure) {
        let flags = fcntl(number, F_GETFD)
        guard flags < 0 || flags & FD_CLOEXEC != 0 else { return }
        throw Failure(
            .usage, "noDescriptor", "file descriptor \(number) is not open",
            hint: "Open it for sealctl: --value-fd \(number) \(number)<FILE.")
    }
}
