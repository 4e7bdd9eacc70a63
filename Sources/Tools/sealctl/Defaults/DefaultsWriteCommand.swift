internal import ArgumentParser
internal import PropertyLists
internal import SealedState

/// `sealctl defaults write`.
struct DefaultsWriteCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Set the value of a key, or all of a suite.",
        usage: """
            sealctl defaults write SUITE KEY VALUE
            sealctl defaults write SUITE KEY -string|-data|-int|-float|-bool|-date VALUE
            sealctl defaults write SUITE KEY -array|-array-add VALUE ...
            sealctl defaults write SUITE KEY -dict|-dict-add KEY VALUE ...
            sealctl defaults write SUITE 'PROPERTY LIST'
            """,
        discussion: """
            A VALUE that begins with {, (, < or a double quote is a property list; any other VALUE is text. -data \
            takes hexadecimal digits, -bool YES or NO, -date a day or 2026-11-21T03:30:00Z. In arrays and dictionaries \
            each value may have a type before it.

            With SUITE and one more argument the command replaces the whole suite, even a refused one. All users of \
            the machine can read arguments: pass a confidential value as -, which is standard input, as -string -, \
            -data - or a property list of any format.

            Examples:
              sealctl defaults write group.com.example.app theme dark
              sealctl defaults write group.com.example.app count -int 5
              sealctl defaults write group.com.example.app tags -array-add news
              sealctl defaults write group.com.example.app '{ theme = dark; }'
              sealctl defaults write group.com.example.app token -string - < token
            """)

    @Argument(
        parsing: .allUnrecognized, help: ArgumentHelp("The suite, the key and the value.", valueName: "word"),
        completion: .custom { _, _, _ in RecordNames.groups() })
    var words: [String]
    @OptionGroup var access: DefaultsAccess
    var output: OutputOptions { access.output }

    func perform() throws(Failure) {
        let words = words.first == "--" ? Array(words.dropFirst()) : words
        guard words.count >= 2 else {
            throw Failure(
                .usage, "usage", "a suite and a value are needed", hint: "See sealctl defaults write --help.")
        }
        if words.count == 2 { return try replace(words[0], with: words[1]) }
        try Self.refuseOption(words[0])
        try Self.refuseOption(words[1])
        let change = try TypedValue.change(Array(words[2...]))
        try access.open(words[0]).work { domain throws(Failure) in
            try domain.edit { values throws(Failure) in
                values[words[1]] = try Self.apply(change, to: values[words[1]], words[1])
            }
        }
    }

    private func replace(_ suite: String, with list: String) throws(Failure) {
        let new = try TypedText.dictionary(list)
        try access.open(suite).work { domain throws(Failure) in try domain.replace(new) }
    }

    private static func apply(
        _ change: TypedValue.Change, to old: PropertyListValue?, _ key: String
    ) throws(Failure) -> PropertyListValue {
        switch change {
        case .set(let value): return value
        case .append(let values):
            guard let array = old == nil ? [] : old?.array else { throw other(old, than: "an array", key) }
            return .array(array + values)
        case .merge(let members):
            guard let dictionary = old == nil ? [:] : old?.dictionary else {
                throw other(old, than: "a dictionary", key)
            }
            return .dictionary(dictionary.merging(members) { $1 })
        }
    }

    private static func other(_ old: PropertyListValue?, than kind: String, _ key: String) -> Failure {
        Failure(
            .dataError, "wrongType", "the value of \(key) is \(old?.kind ?? "nothing"), not \(kind)",
            hint: "Write the whole value, without -add.")
    }

    private static func refuseOption(_ word: String) throws(Failure) {
        guard word.hasPrefix("-") else { return }
        throw Failure(
            .usage, "usage", "\(word) is in the place of a suite or a key", hint: "See sealctl defaults write --help."
        )
    }
}
