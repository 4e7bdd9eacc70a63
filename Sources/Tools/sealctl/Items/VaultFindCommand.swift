internal import ArgumentParser
internal import KeyVault

/// `sealctl vault find`: one item, and its value only when asked for.
struct VaultFindCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Show an item, or print its value.",
        discussion: """
            Without -w or -o the value is not touched. With -w it goes to standard output byte for byte; a terminal \
            gets a line feed after it, and no binary data unless -o - asks for that. A reading of the value is entered \
            in the access log. With --json and -w only errors are JSON.

            Examples:
              sealctl vault find -s db.example.com -a ada
              sealctl vault find -s db.example.com -a ada -w | xclip
              sealctl vault find -s host -a tls -o /run/host/key.pem
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup var item: ItemOptions
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
        if printsValue || outputFile != nil { return try printValue(of: vault) }
        if output.json { return try item.printJSON(of: vault) }
        let found = try Failure.onVault { () throws(VaultError) in
            try vault.item(service: item.service, account: item.account)
        }
        try StandardStreams.print(ItemView(found).text)
    }

    private func printValue(of vault: Vault) throws(Failure) {
        let target = try ValueOutput(outputFile)
        let written = try Failure.onVault { () throws(VaultError) in
            try vault.withValue(service: item.service, account: item.account) { value -> Result<Void, Failure> in
                do throws(Failure) { return .success(try target.write(value)) } catch { return .failure(error) }
            }
        }
        try written.get()
    }
}
