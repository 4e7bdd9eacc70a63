internal import ArgumentParser
internal import CryptoPrimitives
internal import SealedState
internal import SharedFiles
internal import StateImport

/// `sealctl import aes-gcm`: converts data that a program sealed with CryptoKit's `AES.GCM` to a record.
struct ImportAESGCMCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "aes-gcm",
        abstract: "Create a record from a file that CryptoKit's AES.GCM has sealed.",
        discussion: """
            The file is the combined form: nonce, ciphertext, tag. Its key has 32 bytes, raw or as base64 or \
            hexadecimal text; it is never an argument. By default JSONEncoder writes dates as seconds since 2001, and \
            records store them as text: name their fields with --date, with dots between keys (session.until). The \
            command names numbers that look like dates, and keeps the source until each was stated as a date or with \
            --number.

            Examples:
              sealctl import aes-gcm state.enc --as auth --key key.bin --date expiresAt
              sealctl import aes-gcm state.enc --as auth --key-item widget/app
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: ArgumentHelp("The sealed file.", valueName: "file"), completion: .file())
    var file: String
    @Option(name: .customLong("as"), help: ArgumentHelp("The record's name.", valueName: "NAME"))
    var name: String
    @OptionGroup var key: ForeignKeyOptions
    @OptionGroup var record: RecordOptions
    @OptionGroup var moving: PlaintextImportArguments
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard key.isStated else { throw ValidationError("Give the file's key: --key FILE or --key-item ITEM.") }
    }

    func perform() throws(Failure) {
        guard let key = try key.read() else { return }
        try FileMove(groupOptions: groupOptions, keyOptions: keyOptions, moving: moving, output: output).run {
            moving throws(StoreError) in
            try moving.aesGCM(
                file, key: key, as: name, schemaVersion: record.statedVersion, conversion: record.conversion)
        }
    }
}

/// The source of the key of another program's file.
struct ForeignKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Read the file's AES-256 key from FILE; - is standard input.", valueName: "FILE"),
        completion: .file())
    var key: String?
    @Option(
        help: ArgumentHelp("Read the file's AES-256 key from an item of the vault.", valueName: "SERVICE/ACCOUNT"),
        transform: { try ItemReference(parsing: $0[...]) })
    var keyItem: ItemReference?

    func validate() throws {
        guard key == nil || keyItem == nil else { throw ValidationError("Give one of --key and --key-item.") }
    }

    var isStated: Bool { key != nil || keyItem != nil }

    /// Returns the key's source, or `nil` if none was stated. It reads standard input.
    func read() throws(Failure) -> PlaintextImportKey? {
        if let keyItem { return .item(service: keyItem.service, account: keyItem.account) }
        guard key == "-" else { return key.map { .file($0) } }
        let input = try InputFile(key)
        var count = 0
        let text = try SecretBytes(count: PlaintextImportKey.longestText + 1) { buffer throws(Failure) in
            count = try Failure.onFiles { () throws(FileError) in
                var filled = 0
                while filled < buffer.count {
                    let more = try input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
                    if more == 0 { break }
                    filled += more
                }
                return filled
            }
        }
        return text.withUnsafeBytes { .secret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count]))) }
    }
}
