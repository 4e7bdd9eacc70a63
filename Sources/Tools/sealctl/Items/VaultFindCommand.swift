internal import ArgumentParser
internal import AuditReports
internal import CryptoPrimitives
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// `sealctl vault find`: prints one item, and its value only on request.
struct VaultFindCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Show an item, or print its value.",
        discussion: """
            Without -a the service must have one item only. Without -w or -o the command does not read the value. -w \
            prints it to standard output byte for byte; a terminal gets a line feed after it, and no binary data \
            unless -o - is given. The access log records each reading of a value. With --json and -w only errors are \
            JSON.

            Examples:
              sealctl vault find -s db.example.com -a ada
              sealctl vault find -s db.example.com -w | xclip
              sealctl vault find -s host -a tls -o /run/host/key.pem
            """)

    @OptionGroup var target: VaultTarget
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The service of the item, such as a host's name.", valueName: "SERVICE")
    )
    var service: String
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The account of the item; the service's only one unless stated.", valueName: "ACCOUNT"))
    var account: String?
    @Flag(name: .customShort("w"), help: "Print the value, and nothing else.")
    var printsValue = false
    @Option(
        name: .customShort("o"), help: ArgumentHelp("Write the value to FILE (mode 0600).", valueName: "FILE"),
        completion: .file())
    var outputFile: String?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let vault = try keyOptions.openVault(of: try target.checked())
        let account = if let account { account } else { try onlyAccount(in: vault) }
        if printsValue || outputFile != nil { return try printValue(of: vault, account) }
        let found = try Failure.onVault { () throws(VaultError) in
            try vault.item(service: service, account: account)
        }
        try StandardStreams.print(output.json ? ItemView(found).json.text : ItemView(found).text)
    }

    /// Returns the account of the service's only item.
    private func onlyAccount(in vault: Vault) throws(Failure) -> String {
        let accounts = try Failure.onVault { () throws(VaultError) in try vault.items(service: service) }.map(\.account)
        if accounts.count == 1, let account = accounts.first { return account }
        if accounts.isEmpty {
            throw Failure(
                .notFound, VaultError.Code.itemNotFound.rawValue, "there is no item of \(service.printable)",
                hint: "sealctl vault list shows the items.")
        }
        let names = accounts.sorted().prefix(8).map(\.printable).joined(separator: ", ")
        throw Failure(
            .usage, "severalItems", "\(service.printable) has \(accounts.count) items: \(names)",
            hint: "Name the account: -a ACCOUNT.")
    }

    private func printValue(of vault: Vault, _ account: String) throws(Failure) {
        let target = try ValueOutput(outputFile)
        let written = try Failure.onVault { () throws(VaultError) in
            try vault.withValue(service: service, account: account) { value -> Result<Void, Failure> in
                do throws(Failure) { return .success(try target.write(value)) } catch { return .failure(error) }
            }
        }
        try written.get()
    }
}

/// The destination of an item's value: byte for byte, and never with bytes that could control a terminal.
struct ValueOutput {
    private let target: OutputFile

    /// - Parameter path: The path of a new file (mode 0600), a pipe or a device; `nil` or `-` is standard output.
    init(_ path: String?) throws(Failure) { target = try OutputFile(path, mode: 0o600) }

    func write(_ value: UnsafeRawBufferPointer) throws(Failure) {
        if target.isGuardedTerminal, !Self.isText(value) {
            throw Failure(
                .usage, "binaryToTerminal", "the value is binary data, which is not printed to a terminal",
                hint: "Try -o FILE, or -o - to print it.")
        }
        do throws(FileError) {
            try target.write(value)
            // A prompt would follow the last character on its line. A pipe gets the exact bytes.
            if target.isGuardedTerminal, value.last != 0x0A {
                try [0x0A].withRawBytes { end throws(FileError) in try target.write(end) }
            }
        } catch { throw Failure(error, .output) }
        try target.commit()
    }

    /// Returns `true` if the bytes are UTF-8 without control characters other than tabs and line ends.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while let byte = rest.first {
            if byte < 0x80 {
                guard (byte >= 0x20 && byte != 0x7F) || byte == 0x09 || byte == 0x0A || byte == 0x0D else {
                    return false
                }
                rest = rest.dropFirst()
            } else {
                guard let length = UTF8Sequence.length(in: rest), !isControl(rest) else { return false }
                rest = rest.dropFirst(length)
            }
        }
        return true
    }

    /// Returns `true` for U+0080 to U+009F, which some terminals obey.
    private static func isControl(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        bytes.first == 0xC2 && bytes.dropFirst().first.map { $0 < 0xA0 } ?? false
    }
}
