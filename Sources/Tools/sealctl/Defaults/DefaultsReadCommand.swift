internal import ArgumentParser
internal import AuditReports
internal import CryptoPrimitives
internal import PropertyLists
internal import SealedState

/// `sealctl defaults read`.
struct DefaultsReadCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Print all suites, one suite, or the value of one key.",
        discussion: """
            Prints a property list in the old style, which write accepts; the text of a single key has no quotes. With \
            --json data is Base64, and dates are text. --raw prints a text or data byte for byte.

            Examples:
              sealctl defaults read
              sealctl defaults read group.com.example.app
              sealctl defaults read group.com.example.app theme
              sealctl defaults read group.com.example.app avatar --raw > avatar.png
            """)

    @Argument(
        help: "The suite; all of the group's unless stated.", completion: .custom { _, _, _ in RecordNames.groups() })
    var suite: String?
    @Argument(help: "The key; all of the suite's unless stated.")
    var key: String?
    @Flag(help: "Print only the bytes of a text or data, without a line feed.")
    var raw = false
    @OptionGroup var access: DefaultsAccess
    var output: OutputOptions { access.output }

    func validate() throws {
        guard !raw || key != nil else { throw ValidationError("--raw needs a key") }
        guard !raw || !access.output.json else { throw ValidationError("--raw and --json exclude each other") }
    }

    func perform() throws(Failure) {
        try access.open(suite).work { domain throws(Failure) in
            guard suite != nil else { return try print(.dictionary(try all(domain))) }
            guard let key else { return try print(.dictionary(try domain.contents())) }
            let value = try domain.value(of: key)
            if raw { try printBytes(of: value, key) } else { try print(value) }
        }
    }

    private func all(_ domain: DefaultsDomain) throws(Failure) -> [String: PropertyListValue] {
        try Failure.onStore { () throws(StoreError) in
            var suites: [String: PropertyListValue] = [:]
            for name in try domain.store.defaultsSuites() {
                suites[name] = .dictionary(try domain.store.defaults(suite: name).persistentDomain())
            }
            return suites
        }
    }

    private func print(_ value: PropertyListValue) throws(Failure) {
        guard !output.json else { return try StandardStreams.print(PropertyListJSON.text(of: value).text) }
        guard case .string(let text) = value else { return try StandardStreams.print(OldStyleText.text(of: value)) }
        try StandardStreams.print(StandardStreams.outputIsTerminal ? OldStyleText.shown(text) : text)
    }

    private func printBytes(of value: PropertyListValue, _ key: String) throws(Failure) {
        guard let bytes = value.data ?? value.string.map({ Array($0.utf8) }) else {
            throw Failure(
                .dataError, "wrongType", "the value of \(key) is \(value.kind), which --raw cannot print",
                hint: "Leave out --raw.")
        }
        let target = try ValueOutput(nil)
        try bytes.withRawBytes { bytes throws(Failure) in try target.write(bytes) }
    }
}

/// `sealctl defaults read-type`.
struct DefaultsReadTypeCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "read-type",
        abstract: "Print the type of a key's value.",
        discussion: """
            Example:
              sealctl defaults read-type group.com.example.app theme
            """)

    @Argument(help: "The suite.", completion: .custom { _, _, _ in RecordNames.groups() })
    var suite: String
    @Argument(help: "The key.")
    var key: String
    @OptionGroup var access: DefaultsAccess
    var output: OutputOptions { access.output }

    func perform() throws(Failure) {
        try access.open(suite).work { domain throws(Failure) in
            let word = Self.word(for: try domain.value(of: key))
            try StandardStreams.print(output.json ? JSONText.object([("type", .string(word))]).text : "Type is \(word)")
        }
    }

    private static func word(for value: PropertyListValue) -> String {
        switch value {
        case .bool: "boolean"
        case .integer, .unsigned: "integer"
        case .real: "float"
        case .date: "date"
        case .data: "data"
        case .string: "string"
        case .array: "array"
        case .dictionary: "dictionary"
        }
    }
}

/// A property list as JSON, for programs that read no property lists: data as Base64, dates as RFC 3339 text, and
/// numbers that JSON cannot represent as text.
enum PropertyListJSON {
    static func text(of value: PropertyListValue) -> JSONText {
        switch value {
        case .bool(let value): .bool(value)
        case .integer(let value): .number(Int(value))
        case .unsigned(let value): .unsigned(value)
        case .real(let value): value.isFinite ? .verbatim(String(value)) : .string(String(value))
        case .date(let date): .string(CivilTime(date).text)
        case .data(let bytes): .string(String(decoding: Base64.encode(bytes), as: UTF8.self))
        case .string(let text): .string(text)
        case .array(let values): .array(values.map(text))
        case .dictionary(let members):
            .object(PropertyList.sorted(members).map { ($0.key, text(of: $0.value)) })
        }
    }
}
