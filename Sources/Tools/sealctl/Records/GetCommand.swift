internal import ArgumentParser
internal import CryptoPrimitives
internal import SealedState
internal import Sealing
internal import SharedFiles

/// `sealctl get`: prints a record's JSON, or reports why the record is not valid.
struct GetCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a record's JSON, or the reason why it is refused.",
        discussion: """
            The printed JSON is authentic, is not older than the state that this user's programs accepted before, and \
            has not expired. It is byte for byte the sealed payload.

            Examples:
              sealctl get widget_auth_state
              sealctl get accounts/ada -o ada.json
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "The record's name.", completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var name: String
    @Option(
        name: .customShort("o"), help: ArgumentHelp("Write to FILE (mode 0600) instead.", valueName: "FILE"),
        completion: .file())
    var outputFile: String?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let opened: BlobOpener.Opened
        do throws(StoreError) { opened = try store.openPayload(named: name) } catch { throw Failure(error) }
        let codec = opened.header.header.codec
        try opened.plaintext.withUnsafeBytes { bytes throws(Failure) in
            try RecordJSON.check(bytes, codec: codec, named: name, store.options)
            try write(bytes)
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        let target = try OutputFile(outputFile, mode: 0o600)
        guard !target.isGuardedTerminal || ValueOutput.isText(bytes) else {
            throw Failure(
                .usage, "binaryToTerminal", "\(name) contains control characters, which are not printed to a terminal",
                hint: "Try -o FILE, or -o - to print it.")
        }
        do throws(FileError) {
            try target.write(bytes)
            // A prompt would follow the last brace on its line. A pipe gets the exact bytes.
            if target.isGuardedTerminal, bytes.last != 0x0A {
                try [0x0A].withRawBytes { end throws(FileError) in try target.write(end) }
            }
        } catch { throw Failure(error, .output) }
        try target.commit()
    }
}

/// The check of an opened record before its contents are printed.
enum RecordJSON {
    /// - Throws: `Failure` `undecodable` for another codec or for contents that are not JSON. The sealer had the key,
    ///   but was another program.
    static func check(
        _ bytes: UnsafeRawBufferPointer, codec: PayloadCodec, named name: String, _ options: StoreOptions
    ) throws(Failure) {
        guard codec == .json else {
            throw Failure(
                .dataError, "undecodable", "cannot read \(name): its payload is \(codec), not json",
                hint: "Read it with the program that wrote it.")
        }
        do throws(JSONFault) { try JSONChecker.check(bytes, maximumDepth: options.maximumDepth) } catch {
            throw Failure(
                .dataError, "undecodable",
                "cannot read \(name): it is authentic but not JSON (byte \(error.offset): \(error.reason))",
                hint: "Do not use it: write the record again, and examine the program that wrote it.")
        }
    }
}
