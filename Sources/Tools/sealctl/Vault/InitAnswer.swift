internal import AppGroups
internal import KeyVault
internal import SharedFiles

/// What `init` has made, for people and programs.
struct InitAnswer {
    let group: AppGroup
    let container: String
    let vault: String
    let keyFile: String?
    /// What people read about the key.
    let key: String
    /// What was not there before.
    let made: [String]
    /// What nothing opens any more, and where it lies now.
    var abandoned: [SetAsideFile] = []

    func report(asJSON: Bool) throws(Failure) {
        try StandardStreams.print(asJSON ? json.text : text)
    }

    private var text: String {
        let lines = ["container  \(container.printable)", "vault      \(vault.printable)", key]
        return (lines + abandoned.map { "set aside  \($0.to.printable)" }).joined(separator: "\n")
    }

    private var json: JSONText {
        .object([
            ("group", .string(group.identifier)), ("container", .string(container)), ("vault", .string(vault)),
            ("keyFile", .optional(keyFile)), ("made", .array(made.map { .string($0) })),
            (
                "abandoned",
                .array(abandoned.map { .object([("from", .string($0.from)), ("to", .string($0.to))]) })
            ),
        ])
    }
}
