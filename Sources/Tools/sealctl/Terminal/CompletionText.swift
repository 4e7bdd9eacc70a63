internal import AppGroups
internal import SealedBackends
internal import SealedState
internal import SharedFiles

/// Words for shell completion. Bash expands them like words of a script, so names that other programs chose must not
/// contain characters with a meaning for the shell.
enum CompletionText {
    /// Returns the harmless words and drops the others.
    static func safe(_ text: String) -> String {
        text.split(separator: "\n").filter { $0.utf8.allSatisfy(isHarmless) }.joined(separator: "\n")
    }

    /// Returns `true` if these arguments ask for completion words.
    static func isAsked(_ arguments: [String]) -> Bool { arguments.first == "---completion" }

    private static func isHarmless(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// Names for shell completion. Completion requires no key, asks no question and reports no failure.
enum RecordNames {
    /// Returns the groups that have a container.
    static func groups() -> [String] {
        Settings.beginIgnoringFailures()
        guard let home = try? GroupsHome.current() else { return [] }
        return (try? ContainerList(home: home).groups().map(\.identifier)) ?? []
    }

    /// Returns the records of the group in the command line so far, or in the environment.
    static func records(words: [String]) -> [String] {
        names(words, in: ContainerLayout.records) { (try? RecordName($0))?.text }
    }

    /// Returns the sealed files of that group.
    static func files(words: [String]) -> [String] {
        let prefix = SealedFileName.namePrefix
        return names(words, in: ContainerLayout.files) { text in
            (try? SealedFileName(text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text))?.name
        }
    }

    /// - Parameter checked: Returns the name to show for a record's name in a database, or for a path in the directory.
    private static func names(
        _ words: [String], in directory: String, _ checked: (String) -> String?
    ) -> [String] {
        Settings.beginIgnoringFailures()
        guard let identifier = group(in: words) ?? GroupOptions.fromSettings,
            let group = try? AppGroup(identifier), let home = try? GroupsHome.current(),
            let container = try? GroupContainer.open(group, in: home, creating: false)
        else { return [] }
        if let backend = (try? KnownBackend.open(of: container)) ?? nil {
            let keys = (try? backend.scan("", after: nil, limit: mostNames))?.map(\.key.name) ?? []
            let isOfFiles = directory == ContainerLayout.files
            return keys.filter { $0.hasPrefix(SealedFileName.namePrefix) == isOfFiles }.compactMap(checked)
        }
        guard let records = try? container.root.directory(directory) else { return [] }
        var names: [String] = []
        records.walk(maximumDepth: 8, omitting: ContainerLayout.contentsName) { entry in
            guard entry.kind == .regular, entry.path.hasSuffix(ContainerLayout.recordSuffix) else { return }
            // Any process with write permission may have created files of any name.
            if let name = checked(String(entry.path.dropLast(ContainerLayout.recordSuffix.count))) {
                names.append(name)
            }
        }
        return names
    }

    /// A shell does not show more names.
    private static let mostNames = 10_000

    private static func group(in words: [String]) -> String? {
        if let joined = words.last(where: { $0.hasPrefix("--group=") }) { return String(joined.dropFirst(8)) }
        guard let option = words.lastIndex(of: "--group"), option + 1 < words.count else { return nil }
        return words[option + 1]
    }
}
