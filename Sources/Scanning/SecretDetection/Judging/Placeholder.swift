/// Placeholder values in the place of secrets.
enum Placeholder {
    /// Returns whether a person made up the random part of a token: repeated characters, a sequence, a placeholder
    /// word.
    static func isIn(token text: SearchText) -> Bool {
        if hasRow(of: 5, in: text) && text.count <= 96 { return true }
        return hasSequence(of: 7, in: text) || PlaceholderWords.kinds(in: text).contains(.token)
    }

    /// Returns whether a field's value is empty in meaning or a reference to a secret's source.
    static func isIn(field text: SearchText) -> Bool {
        if isTemplate(text) || hasRow(of: text.count > 20 ? 5 : 4, in: text) && text.count <= 96 { return true }
        if hasSequence(of: text.count > 8 ? 6 : 7, in: text) { return true }
        let kinds = PlaceholderWords.kinds(in: text)
        return !kinds.isDisjoint(with: [.token, .template, .reference]) || kinds.contains(.field) && text.count <= 40
    }

    /// Returns whether the text is `${NAME}`, `{{ name }}`, `<name>`, `%s`, `$(NAME)`, `#{name}`, `[name]`, `$NAME` or
    /// `__NAME__`.
    private static func isTemplate(_ text: SearchText) -> Bool {
        let last = text[text.count - 1]
        switch text[0] {
        case UInt8(ascii: "$"):
            return text[1] == UInt8(ascii: "{") || text[1] == UInt8(ascii: "(")
                || isVariable(text.slice(1..<text.count))
        case UInt8(ascii: "<"): return last == UInt8(ascii: ">")
        case UInt8(ascii: "{"): return last == UInt8(ascii: "}")
        case UInt8(ascii: "["): return last == UInt8(ascii: "]")
        case UInt8(ascii: "("): return last == UInt8(ascii: ")")
        case UInt8(ascii: "%"): return text.count <= 4 || last == UInt8(ascii: "%") || text[1] == UInt8(ascii: "(")
        case UInt8(ascii: "@"): return last == UInt8(ascii: "@")
        case UInt8(ascii: "_"): return text[1] == UInt8(ascii: "_") && last == UInt8(ascii: "_")
        default: break
        }
        return text.holds("%s", at: text.count - 2) || text.holds("%@", at: text.count - 2)
    }

    private static func isVariable(_ name: SearchText) -> Bool {
        name.allSatisfy(.word) && TextComposition(name).isIdentifier
    }

    /// Returns whether one character occurs `length` times in a row.
    static func hasRow(of length: Int, in text: SearchText) -> Bool {
        hasRun(of: length, in: text) { $0 == $1 }
    }

    /// Returns whether `length` characters count up: `1234567`, `abcdefg`.
    static func hasSequence(of length: Int, in text: SearchText) -> Bool {
        hasRun(of: length, in: text) { last, byte in
            let (last, byte) = (last.lowered, byte.lowered)
            let counts =
                byte == last &+ 1
                || last == UInt8(ascii: "9") && (byte == UInt8(ascii: "0") || byte == UInt8(ascii: "a"))
            return counts && (byte.isLetter || byte.isDigit)
        }
    }

    /// Returns whether `length` consecutive bytes, at least two, each continue the previous one.
    ///
    /// A run of n bytes has n - 1 steps, one of which ends at a multiple of n - 1. Runs are followed from those
    /// positions only.
    @inline(__always)
    private static func hasRun(of length: Int, in text: SearchText, _ goesOn: (UInt8, UInt8) -> Bool) -> Bool {
        let steps = length - 1
        var place = steps
        while place < text.count {
            if goesOn(text.bytes[place - 1], text.bytes[place]) {
                var start = place - 1
                while start > 0, place - start < steps, goesOn(text.bytes[start - 1], text.bytes[start]) { start -= 1 }
                var end = place + 1
                while end < text.count, end - start < length, goesOn(text.bytes[end - 1], text.bytes[end]) { end += 1 }
                if end - start >= length { return true }
            }
            place += steps
        }
        return false
    }
}

/// Placeholder words, all searched at once.
enum PlaceholderWords {
    struct Kinds: OptionSet {
        let rawValue: Int32
        /// Words that count even inside text that looks random.
        static let token = Kinds(rawValue: 1)
        /// Words that count in a value that a person may have typed.
        static let field = Kinds(rawValue: 2)
        /// Template markers.
        static let template = Kinds(rawValue: 4)
        /// Prefixes of a value that refers to the secret's location, or that is public.
        static let reference = Kinds(rawValue: 8)
    }

    /// Returns the kinds of placeholder words in the first 4,096 bytes of a text.
    static func kinds(in text: SearchText) -> Kinds {
        var kinds: Kinds = []
        var state: KeywordAutomaton.State = 0
        for position in 0..<min(text.count, 4096) {
            state = automaton.next(state, text.bytes[position])
            guard state & KeywordAutomaton.accepting != 0 else { continue }
            for ending in automaton.endings(in: state) {
                guard case .detector(let kind) = ending.role else { continue }
                if kind != Kinds.reference.rawValue || ending.length == position + 1 {
                    kinds.insert(Kinds(rawValue: kind))
                }
            }
        }
        return kinds
    }

    private static let automaton = KeywordAutomaton(
        [(tokens, Kinds.token), (fields, .field), (templates, .template), (references, .reference)].flatMap {
            words, kind in
            words.map { Keyword($0, isExact: false, .detector(kind.rawValue)) }
        })

    private static let templates = ["${", "{{", "<%", "#{", "$(", "..."]

    private static let tokens = [
        "example", "xxxxxx", "placeholder", "changeme", "redacted", "your_", "your-", "yourtoken", "yourkey",
        "yoursecret",
        "abcdef1234", "1a2b3c4d", "deadbeef", "notreal", "not_real", "insert_", "replace",
    ]

    private static let fields = [
        "change_me", "change-me", "changeit", "change this", "your ", "yourpass", "yourapi", "yoursec", "youracc",
        "dummy", "sample",
        "xxxx", "****", "todo", "fixme", "insert ", "not set", "notset", "not_set", "undefined", "foobar", "lorem",
        "here>",
        "my_pass", "mypass", "my-pass", "my_secret", "mysecret", "my-secret", "my_token", "mytoken", "my-token",
        "my_api", "myapi", "my-api",
        "notasecret", "not-a-secret", "thisis", "this_is", "this-is", "fake", "qwerty", "hidden", "masked", "asdf",
        "secret_here",
        "required|", "string|", "min:", "test_", "test-", "-test", "_test", "testtest", "test1", "testpass",
        "testtoken", "testkey", "testsecret", "hunter2hunter2",
    ]

    /// Prefixes of references to a secret's location, and of public values.
    private static let references = [
        "vault:", "secret://", "ssm:", "arn:", "op://", "keychain:", "keyring:", "file:", "env:", "env.", "process.",
        "os.", "enc[",
        "!ref", "!sub", "!vault", "{cipher}", "secretsmanager", "projects/", "azurekeyvault", "@microsoft.keyvault",
        "data:", "urn:",
        "sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "sha512:", "sha1:", "md5:", "ssh-rsa ", "ssh-ed25519 ",
        "ecdsa-",
        "-----begin public", "-----begin cert", "age1", "sk_test_", "pk_test_", "pk_live_", "rk_test_", "spki", "ref:",
        "ref+",
        "sealed:", "u0vbt", "ivborw0kggo", "/9j/", "r0lgod", "uklgr", "phn2zw", "t2dn",
    ]
}
