internal import AppGroups
internal import ArgumentParser
internal import KeyVault
internal import PropertyLists
internal import SealedState

/// `sealctl defaults`: the commands of macOS' `defaults`, over sealed suites.
struct DefaultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaults",
        abstract: "Read and write sealed defaults, with the subcommands of macOS' defaults.",
        discussion: """
            SUITE is a suite of the app group that --group or $SEALCTL_GROUP names. The identifier of a group is also \
            the name of a suite: that group's own suite, for which --group is not needed.

            Examples:
              sealctl defaults write group.com.example.app theme dark
              sealctl defaults write group.com.example.app limits -dict count -int 5
              sealctl defaults read group.com.example.app
              sealctl defaults find theme
            """,
        subcommands: [
            DefaultsReadCommand.self, DefaultsReadTypeCommand.self, DefaultsWriteCommand.self,
            DefaultsDeleteCommand.self, DefaultsRenameCommand.self, DefaultsFindCommand.self,
            DefaultsImportCommand.self, DefaultsExportCommand.self, DefaultsDomainsCommand.self,
        ])
}

/// The options of every command on defaults: the group, the key and the format of results.
struct DefaultsAccess: ParsableArguments {
    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    /// Opens the store of a domain's group; creates nothing.
    ///
    /// - Parameter domain: A suite, or the identifier of a group, which names both.
    func open(_ domain: String?) throws(Failure) -> DefaultsDomain {
        let (group, suite) = try resolve(domain)
        let store = try keyOptions.openStore(of: group)
        var options = DefaultsOptions()
        let asJSON = output.json
        options.onWarning = { Self.report($0, asJSON: asJSON) }
        let defaults = try Failure.onStore { () throws(StoreError) in
            try store.defaults(suite: suite, options: options)
        }
        return DefaultsDomain(store: store, defaults: defaults, asJSON: asJSON)
    }

    private func resolve(_ domain: String?) throws(Failure) -> (group: AppGroup, suite: String?) {
        if groupOptions.group == nil, let domain, let group = try? AppGroup(domain) { return (group, nil) }
        return (try groupOptions.appGroup(), domain)
    }

    private static func report(_ warning: DefaultsWarning, asJSON: Bool) {
        let sentences = warning.description.split(separator: ". ", maxSplits: 1).map { String($0) }
        let code =
            switch warning {
            case .largeValue: "largeValue"
            case .beganAnew: "beganAnew"
            }
        Warning(code, sentences[0], hint: sentences.count > 1 ? sentences[1] : "").report(asJSON: asJSON)
    }
}

/// The suite that a command works on.
struct DefaultsDomain {
    let store: SealedStore
    let defaults: SealedDefaults
    let asJSON: Bool

    var name: String { defaults.suite }

    /// Performs a command's work, and then reports if protection against old files is off.
    func work<Result>(_ body: (DefaultsDomain) throws(Failure) -> Result) throws(Failure) -> Result {
        defer { WatermarkWarning.report(on: store, asJSON: asJSON) }
        return try body(self)
    }

    /// Returns everything in the suite.
    ///
    /// - Throws: `Failure` `absent` for a suite that was never written.
    func contents() throws(Failure) -> [String: PropertyListValue] {
        let values = try Failure.onStore { () throws(StoreError) in try defaults.persistentDomain() }
        if values.isEmpty { try requireSuite() }
        return values
    }

    /// - Throws: `Failure` `absent` for a suite that was never written, or that was removed. A refused suite counts as
    ///   present, and so does a suite whose file is missing without a removal.
    func requireSuite() throws(Failure) {
        let fileState = try Failure.onStore { () throws(StoreError) in try defaults.fileState() }
        switch fileState {
        case .present, .missing: return
        case .unknown, .removed:
            throw Failure(
                .notFound, "absent", "the group \(store.group.identifier) has no suite \(name)",
                hint: "Try sealctl defaults domains to see the suites.")
        }
    }

    /// - Throws: `Failure` `absent` if the suite does not contain the key.
    func value(of key: String) throws(Failure) -> PropertyListValue {
        guard let value = try contents()[key] else { throw missing(key) }
        return value
    }

    func missing(_ key: String) -> Failure {
        Failure(
            .notFound, "absent", "the suite \(name) has no key \(key)",
            hint: "See its keys: sealctl defaults read \(name).")
    }

    /// Replaces the whole suite with these values, even if its present file is refused.
    func replace(_ values: [String: PropertyListValue]) throws(Failure) {
        try Failure.onStore { () throws(StoreError) in try defaults.setPersistentDomain(values) }
    }

    /// Changes the suite in one write.
    func edit(_ change: (inout [String: PropertyListValue]) throws(Failure) -> Void) throws(Failure) {
        do throws(StoreError) { try defaults.edit(change) } catch {
            throw error.cause as? Failure ?? Failure(error)
        }
    }
}
