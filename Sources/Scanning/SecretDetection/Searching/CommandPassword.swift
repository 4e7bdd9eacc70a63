/// Passwords in short options of commands: `mysql -pWORD`, `sshpass -p WORD`, `redis-cli -a WORD`.
enum CommandPassword {
    /// The commands, their options, and whether a blank may separate option and value.
    private static let commands: [(name: String, option: StaticString, mayBeApart: Bool)] = [
        ("mysql", "-p", false), ("mariadb", "-p", false), ("sshpass ", "-p", true), ("redis-cli ", "-a", true),
    ]

    static func detectors(_ rule: SecretRule) -> [Detector] {
        commands.map { command in
            Detector(rule, command.name) { text, keyword in
                guard text.beginsWord(at: keyword.lowerBound, unlike: .word) else { return nil }
                return find(command.option, mayBeApart: command.mayBeApart, in: text, from: keyword.upperBound)
            }
        }
    }

    /// Searches up to the end of the command, at a pipe or a semicolon.
    private static func find(
        _ option: StaticString, mayBeApart: Bool, in text: SearchText, from start: Int
    ) -> Detector.Draft? {
        // The rest of the command's own name: `mysqldump`, `mariadb-admin`.
        let name = text.end(of: .commandName, from: text[start - 1] == 32 ? start - 1 : start, atMost: 24)
        let end = text.end(of: .command, from: name, atMost: 1024)
        var from = name
        while let place = text.first(option, in: from..<end) {
            from = place + 2
            guard ByteClass.blank.contains(text[place - 1]) else { continue }
            let open = mayBeApart ? text.end(of: .blank, from: from, atMost: 8) : from
            if let draft = draft(at: open, in: text) { return draft }
        }
        return nil
    }

    private static func draft(at open: Int, in text: SearchText) -> Detector.Draft? {
        let start = text.end(of: .quote, from: open, atMost: 1)
        let range = start..<text.end(of: .argument, from: start, atMost: 128)
        let value = text.slice(range)
        // `-p3306:3306` and `-p 22` are ports.
        guard !value.allSatisfy(.port), value[0] != UInt8(ascii: "$") else { return nil }
        guard FieldValue(value, .quoted).certainty(as: .password, named: value.slice(0..<0)) != nil else { return nil }
        return Detector.Draft(range: range, certainty: .likely)
    }
}

extension ByteClass {
    fileprivate static let commandName = ByteClass.word + ByteClass("-")
    fileprivate static let command = ByteClass("\r\n|;").inverted
    fileprivate static let argument = (ByteClass.control + ByteClass("\"'`\\<>|;&")).inverted
    fileprivate static let port = ByteClass.digit + ByteClass(":.")
}
