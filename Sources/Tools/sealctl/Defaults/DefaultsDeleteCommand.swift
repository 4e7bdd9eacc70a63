internal import ArgumentParser
internal import PropertyLists
internal import SealedState

/// `sealctl defaults delete`.
struct DefaultsDeleteCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a key, or a whole suite, so that an old copy is refused.",
        discussion: """
            The command asks before it deletes a whole suite, unless --yes is given.

            Examples:
              sealctl defaults delete group.com.example.app theme
              sealctl defaults delete com.example.settings --yes
            """)

    @Argument(help: "The suite.", completion: .custom { _, _, _ in RecordNames.groups() })
    var suite: String
    @Argument(help: "The key; the whole suite unless stated.")
    var key: String?
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var access: DefaultsAccess
    var output: OutputOptions { access.output }

    func perform() throws(Failure) {
        try access.open(suite).work { domain throws(Failure) in
            guard let key else { return try deleteAll(of: domain) }
            try domain.edit { values throws(Failure) in
                guard values.removeValue(forKey: key) != nil else { throw domain.missing(key) }
            }
        }
    }

    /// Deletes the suite, even if it is refused or its file is missing; it must only have existed.
    private func deleteAll(of domain: DefaultsDomain) throws(Failure) {
        try domain.requireSuite()
        try confirmation.require(
            "delete the suite \(domain.name)",
            ["Every program of \(domain.store.group.identifier) loses all settings in it."])
        try Failure.onStore { () throws(StoreError) in try domain.defaults.removePersistentDomain() }
    }
}

/// `sealctl defaults rename`.
struct DefaultsRenameCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Rename a key.",
        discussion: """
            An existing key is not replaced.

            Example:
              sealctl defaults rename group.com.example.app colour color
            """)

    @Argument(help: "The suite.", completion: .custom { _, _, _ in RecordNames.groups() })
    var suite: String
    @Argument(help: "The key.")
    var old: String
    @Argument(help: "The new key.")
    var new: String
    @OptionGroup var access: DefaultsAccess
    var output: OutputOptions { access.output }

    func perform() throws(Failure) {
        try access.open(suite).work { domain throws(Failure) in
            try domain.edit { values throws(Failure) in
                guard let value = values.removeValue(forKey: old) else { throw domain.missing(old) }
                guard values.updateValue(value, forKey: new) == nil else {
                    throw Failure(
                        .duplicate, "conflict", "the suite \(domain.name) has a key \(new) already",
                        hint: "Delete it first if it is not needed.")
                }
            }
        }
    }
}
