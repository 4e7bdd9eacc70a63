internal import PropertyLists
internal import SharedFiles

/// The value that the words after a key describe: `-int 5`, `-array a b`, or a property list as text.
struct TypedValue {
    /// A change of the present value.
    enum Change {
        case set(PropertyListValue)
        /// Appends to an array.
        case append([PropertyListValue])
        /// Merges into a dictionary.
        case merge([String: PropertyListValue])
    }

    private var words: ArraySlice<String>

    /// - Parameter words: The words after the suite and the key.
    static func change(_ words: [String]) throws(Failure) -> Change {
        var parser = TypedValue(words: words[...])
        guard let first = parser.words.popFirst() else { throw usage("a value is missing") }
        let change: Change
        switch first {
        case "-array": change = .set(.array(try parser.elements()))
        case "-array-add": change = .append(try parser.elements())
        case "-dict": change = .set(.dictionary(try parser.members()))
        case "-dict-add": change = .merge(try parser.members())
        default: change = .set(try parser.value(first))
        }
        guard parser.words.isEmpty else {
            throw usage("there is more than one value", hint: "Quote a value that contains spaces.")
        }
        return change
    }

    private mutating func elements() throws(Failure) -> [PropertyListValue] {
        var values: [PropertyListValue] = []
        while let word = words.popFirst() { values.append(try value(word)) }
        return values
    }

    private mutating func members() throws(Failure) -> [String: PropertyListValue] {
        var members: [String: PropertyListValue] = [:]
        while let key = words.popFirst() {
            try Self.refuseOption(key)
            guard let word = words.popFirst() else { throw Self.usage("the key \(key) has no value") }
            guard members.updateValue(try value(word), forKey: key) == nil else {
                throw Self.usage("the key \(key) occurs twice")
            }
        }
        return members
    }

    /// Parses one value: a type and the word after it, or a single word.
    private mutating func value(_ word: String) throws(Failure) -> PropertyListValue {
        guard word.hasPrefix("-"), word != "-" else { return try TypedText.untyped(word) }
        try Self.refuseOption(word)
        guard let type = TypedText.Kind(word) else {
            throw Self.usage(
                "\(word) is not a type of value", hint: "For a text that begins with -: -string '\(word)'.")
        }
        guard let text = words.popFirst() else { throw Self.usage("\(word) needs a value") }
        return try type.value(text)
    }

    /// Refuses a misspelt option, which must not become a value.
    private static func refuseOption(_ word: String) throws(Failure) {
        guard word.hasPrefix("--") else { return }
        throw usage(
            "\(word) is not an option of this command",
            hint: "For a text that begins with -: -string '\(word)' after --.")
    }

    private static func usage(_ message: String, hint: String = "See sealctl defaults write --help.") -> Failure {
        Failure(.usage, "usage", message, hint: hint)
    }
}
