internal import ArgumentParser
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// `sealctl decrypt`: opens what `encrypt` sealed.
struct DecryptCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt",
        abstract: "Open a sealed stream.",
        discussion: """
            An output file (mode 0600) appears only if the whole stream is authentic. To standard output a file is \
            verified to its end and then written. A pipe cannot be read twice: its contents are written chunk by \
            chunk, each authentic and in order, before the end is verified. Use them only if the exit status is 0. A \
            stream that was sealed with --name needs the same --name.

            Examples:
              sealctl decrypt -o backup.tar backup.tar.sealed
              sealctl decrypt photos.tar.sealed | tar x
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Option(
        name: .customShort("o"),
        help: ArgumentHelp("The opened file; standard output unless stated.", valueName: "OUT"),
        completion: .file())
    var outputFile: String?
    @Argument(
        help: ArgumentHelp("The sealed file; standard input unless stated.", valueName: "in"), completion: .file())
    var inputFile: String?
    @Flag(help: "Open a stream whose key a rotation has retired.")
    var acceptRetired = false
    @OptionGroup var name: StreamNameOption
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let context = try name.context(in: group)
        let input = try InputFile(inputFile)
        let target = try OutputFile(outputFile, mode: 0o600)
        try target.requireOther(than: input)
        let opening = StreamOpening(
            input: input, target: target, context: context,
            keys: KeysInForce(try keyOptions.openVault(of: group).keyring, acceptingRetired: acceptRetired))
        try opening.run()
        try target.commit()
    }
}

/// The decryption of one stream from a sealed input to its target.
private struct StreamOpening {
    let input: InputFile
    let target: OutputFile
    let context: BlobContext
    let keys: KeysInForce

    func run() throws(Failure) {
        if target.isStream, let extent = input.extent {
            try verify(extent)
            // The file may change between the passes, so the second one authenticates everything again.
            return try release(total: extent.count, isEarly: false)
        }
        try release(total: input.extent?.count, isEarly: target.isStream)
    }

    private func verify(_ extent: (start: Int64, count: Int64)) throws(Failure) {
        let progress = Progress("verifying", total: extent.count)
        do throws(StreamFailure<FileError>) {
            try StreamOpener.verify(
                from: input.rereadableSource(from: extent.start, progress), context: context, keys: keys)
        } catch { throw Failure(error, "decrypt", input.name) }
    }

    private func release(total: Int64?, isEarly: Bool) throws(Failure) {
        let released = Position(0)
        let progress = Progress("opening", total: total)
        do throws(StreamFailure<FileError>) {
            try StreamOpener.openReleasingEarly(
                from: input.source(progress),
                to: { (bytes) throws(FileError) in
                    try target.writeGuarded(bytes)
                    released.advance(bytes.count)
                }, context: context, keys: keys)
        } catch {
            throw failure(error, released: isEarly ? released.value : 0)
        }
    }

    private func failure(_ error: StreamFailure<FileError>, released: Int64) -> Failure {
        if case .output(let cause) = error { return OutputFile.refusal(cause) }
        let failure = Failure(error, "decrypt", input.name)
        guard case .sealing = error, released > 0 else { return failure }
        return Failure(
            failure.status, failure.code, "\(failure.message); \(released) bytes were written before that",
            hint: "Discard them: the end of the stream is not authentic.")
    }
}

extension OutputFile {
    private static let binary = FileError.Code(rawValue: "binaryToTerminal")

    /// Writes opened contents; refuses control characters for a terminal, because they could control it. Text is
    /// allowed.
    func writeGuarded(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        let isText =
            !isGuardedTerminal
            || bytes.allSatisfy { byte in
                byte == 0x09 || byte == 0x0A || byte == 0x0D || (byte >= 0x20 && byte != 0x7F)
            }
        guard isText else { throw FileError(Self.binary, operation: "write", path: "standard output") }
        try write(bytes)
    }

    /// Returns the failure of a command whose output was refused.
    static func refusal(_ error: FileError) -> Failure {
        guard error.code == binary else { return Failure(error, .output) }
        return Failure(
            .usage, binary.rawValue, "the opened contents are binary data, which is not printed to a terminal",
            hint: "Try -o FILE, or a pipe.")
    }
}

/// A vault's keys. Keys that a completed rotation has retired are included only on request.
///
/// Streams may be stored anywhere, so a rotation does not reseal all of them: a stream of an old epoch may be genuine,
/// or sealed again by a holder of the old key. A person must state that it is expected.
struct KeysInForce: SealingKeySource {
    private let keyring: Keyring
    private let acceptsRetired: Bool

    init(_ keyring: Keyring, acceptingRetired: Bool) {
        self.keyring = keyring
        acceptsRetired = acceptingRetired
    }

    func sealingKey(for id: KeyID) -> SealingKey? { keyring.sealingKey(for: id) }

    var minimumEpoch: UInt32 { acceptsRetired ? 0 : keyring.minimumEpoch }

    func minimumEpoch(for key: SealingKey) -> UInt32 { acceptsRetired ? 0 : keyring.minimumEpoch(for: key) }
}
