internal import ArgumentParser
internal import AuditReports
internal import PropertyLists
internal import SealedState
internal import SharedFiles

/// `sealctl defaults find`.
struct DefaultsFindCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Print the values that have a word in their suite's name, key or value.",
        discussion: """
            The search ignores case. It covers all suites of the group; a refused suite ends the command.

            Example:
              sealctl defaults find theme --group group.com.example.app
            """)

    @Argument(help: "The word.")
    var word: String
    @OptionGroup var access: DefaultsAccess
    var output: OutputOptions { access.output }

    func perform() throws(Failure) {
        let found = try access.open(nil).work { domain throws(Failure) in try search(domain.store) }
        guard !found.isEmpty else {
            throw Failure(
                .notFound, "absent", "no suite, key or value contains \"\(word)\"", hint: "Try a part of the word.")
        }
        guard !output.json else {
            let suites = Dictionary(
                uniqueKeysWithValues: found.map { ($0.suite, PropertyListValue.dictionary($0.values)) })
            return try StandardStreams.print(PropertyListJSON.text(of: .dictionary(suites)).text)
        }
        for (suite, values) in found {
            let keys = values.count == 1 ? "1 key" : "\(values.count) keys"
            try StandardStreams.print(
                "Found \(keys) in suite '\(suite)': \(OldStyleText.text(of: .dictionary(values)))")
        }
    }

    private func search(
        _ store: SealedStore
    ) throws(Failure) -> [(suite: String, values: [String: PropertyListValue])] {
        try Failure.onStore { () throws(StoreError) in
            var found: [(suite: String, values: [String: PropertyListValue])] = []
            for name in try store.defaultsSuites() {
                let all = try store.defaults(suite: name).persistentDomain()
                let values = has(name) ? all : all.filter { has($0.key) || has($0.value) }
                if !values.isEmpty { found.append((name, values)) }
            }
            return found
        }
    }

    private func has(_ value: PropertyListValue) -> Bool {
        switch value {
        case .array(let values): values.contains(where: has)
        case .dictionary(let members): members.contains { has($0.key) || has($0.value) }
        case .string(let text): has(text)
        case .data: false
        default: has(OldStyleText.text(of: value))
        }
    }

    private func has(_ text: String) -> Bool { text.lowercased().contains(word.lowercased()) }
}

/// `sealctl defaults domains`.
struct DefaultsDomainsCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "domains",
        abstract: "Print the names of all suites of a group.",
        discussion: """
            Example:
              sealctl defaults domains --group group.com.example.app
            """)

    @OptionGroup var access: DefaultsAccess
    var output: OutputOptions { access.output }

    func perform() throws(Failure) {
        let names = try access.open(nil).work { domain throws(Failure) in
            try Failure.onStore { () throws(StoreError) in try domain.store.defaultsSuites() }
        }
        if output.json { return try StandardStreams.print(JSONText.array(names.map { .string($0) }).text) }
        if !names.isEmpty { try StandardStreams.print(names.joined(separator: ", ")) }
    }
}
