/// Words that stand where a secret would, all looked for at once.
enum PlaceholderWords {
    struct Kinds: OptionSet {
        let rawValue: Int32
        /// Even in what a generator seems to have drawn.
        static let token = Kinds(rawValue: 1)
        /// In a value that a person may have typed.
        static let field = Kinds(rawValue: 2)
        /// Marks of templates.
        static let template = Kinds(rawValue: 4)
        /// At the start of a value that says where the secret is, or is public.
        static let reference = Kinds(rawValue: 8)
    }

    /// Which there are in the first 4,096 bytes of a text.
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

    /// What only says where the secret is, or is public.
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
