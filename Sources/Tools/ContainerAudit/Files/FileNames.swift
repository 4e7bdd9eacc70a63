internal import AppGroups

/// What a file's name says of its purpose. Names are compared without regard to case.
enum FileNames {
    /// Whether it is named as logs are: `x.log`, `x.log.1`, `x.2026-11-21.log`.
    static func isLog(_ leaf: some StringProtocol) -> Bool {
        var parts = leaf.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        if parts.count > 2, let last = parts.last, last.allSatisfy(\.isNumber) || last == "gz" || last == "old" {
            parts.removeLast()
        }
        return parts.count > 1 && parts.last == "log"
    }

    /// Whether it lies where `UserDefaults` keeps its suites, and is named as one.
    static func isPreferences(_ path: String) -> Bool {
        path.hasPrefix(GroupContainer.StandardDirectory.preferences.relativePath + "/")
            && path.lowercased().hasSuffix(".plist")
    }

    /// Whether it is named as sealed files are.
    static func isSealed(_ leaf: some StringProtocol) -> Bool { leaf.hasSuffix(ContainerLayout.recordSuffix) }

    /// Whether it is named as a secret key is: `master.key`, `aes-key.bin`, `hmac_secret`. Public keys are not, nor what
    /// dictionaries and tables call a key.
    static func isKey(_ leaf: some StringProtocol) -> Bool {
        let words = NameWords.of(leaf)
        return words.contains(where: keyWords.contains) && !words.contains(where: otherKeyWords.contains)
    }

    private static let keyWords: Set<String> = ["key", "secret", "seed", "aes", "hmac", "kek", "dek"]
    private static let otherKeyWords: Set<String> = [
        "public", "pub", "id", "ids", "identifier", "hash", "digest", "fingerprint", "checksum", "cache", "primary",
        "foreign", "sort", "index", "partition", "idempotency", "uuid",
    ]

    /// Whether it is named as SQLite names its logs and journals.
    static func isJournal(_ leaf: some StringProtocol) -> Bool { leaf.hasSuffix("-wal") || leaf.hasSuffix("-journal") }

    /// The path of the database that a file of this path belongs to, by the names that SQLite gives its log, its journal
    /// and their index; nil for every other name.
    static func database(ofCompanion path: String) -> Substring? {
        guard let ending = ["-wal", "-journal", "-shm"].first(where: path.hasSuffix) else { return nil }
        let database = path.dropLast(ending.utf8.count)
        return database.isEmpty || database.hasSuffix("/") ? nil : database
    }

    /// Whether it is named as editors and people name copies of what was there before: `x~`, `x.bak`, `.x.swp`.
    static func isBackup(_ leaf: some StringProtocol) -> Bool {
        let name = leaf.lowercased()
        if name.hasSuffix("~") || (name.hasPrefix("#") && name.hasSuffix("#") && name.utf8.count > 2) { return true }
        return hasEnding(["bak", "backup", "orig", "old", "save", "swp", "swo", "rej"], name)
    }

    /// Whether it is named as other programs name what they are still writing: `x.tmp`, `x.part`, `.dat.nosync01.x`,
    /// `x.sb-0123abcd-xyz123`.
    static func isTemporary(_ leaf: some StringProtocol) -> Bool {
        let name = leaf.lowercased()
        if name.hasPrefix(".dat.nosync") || name.contains(".sb-") && name.split(separator: "-").count == 3 {
            return true
        }
        return hasEnding(["tmp", "temp", "part", "partial", "crdownload", "download"], name)
    }

    /// Whether it is named as lock files are.
    static func isLock(_ leaf: some StringProtocol) -> Bool {
        let name = leaf.lowercased()
        return name == "lock" || name == "pid" || hasEnding(["lock", "lck", "pid"], name)
    }

    private static func hasEnding(_ endings: Set<String>, _ name: String) -> Bool {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return false }
        return endings.contains(String(name[name.index(after: dot)...]))
    }
}

/// The words of a name, in lower case: `userAccessToken`, `user_access-token` and `USER.ACCESS.TOKEN` are the same three.
enum NameWords {
    static func of(_ name: some StringProtocol) -> [String] {
        var words: [String] = []
        var word = ""
        var last: UInt8?
        for byte in name.utf8 {
            let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            let isLetter = isUpper || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte >= 0x80
            let endsWord = !isLetter || (isUpper && last.map { !isCapital($0) } ?? false)
            if endsWord, !word.isEmpty {
                words.append(word)
                word = ""
            }
            if isLetter { word.unicodeScalars.append(Unicode.Scalar(isUpper ? byte | 0x20 : byte)) }
            last = byte
        }
        return word.isEmpty ? words : words + [word]
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
}

/// Names that records and files of credentials go by.
enum CredentialName {
    private static let words: Set<String> = [
        "token", "tokens", "session", "sessions", "credential", "credentials", "jwt", "bearer", "apikey", "cookie",
        "cookies",
        "accesstoken", "refreshtoken", "authtoken", "idtoken", "sessiontoken", "oauth",
    ]
    /// `token_count` counts, and `session-settings` sets: the last word tells what it is.
    private static let others: Set<String> = ["count", "settings", "state", "status", "list", "kind", "type", "limit"]

    /// Whether the last segment of a record's name says that it holds one: `accounts/ada/access-token`.
    static func matches(_ name: some StringProtocol) -> Bool {
        let segment = name.split(separator: "/").last ?? ""
        let words = NameWords.of(segment)
        guard let last = words.last, !others.contains(last) else { return false }
        return words.contains { self.words.contains($0) } || self.words.contains(words.joined())
    }
}
