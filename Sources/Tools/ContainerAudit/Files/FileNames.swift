internal import AppGroups

/// The purpose of files by their names, compared without regard to case.
enum FileNames {
    /// Returns whether the name is that of a log: `x.log`, `x.log.1`, `x.2026-11-21.log`.
    static func isLog(_ leaf: some StringProtocol) -> Bool {
        var parts = leaf.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        if parts.count > 2, let last = parts.last, last.allSatisfy(\.isNumber) || last == "gz" || last == "old" {
            parts.removeLast()
        }
        return parts.count > 1 && parts.last == "log"
    }

    /// Returns whether the path and the name are those of a `UserDefaults` suite.
    static func isPreferences(_ path: String) -> Bool {
        path.hasPrefix(GroupContainer.StandardDirectory.preferences.relativePath + "/")
            && path.lowercased().hasSuffix(".plist")
    }

    /// Returns whether the name is that of a sealed file.
    static func isSealed(_ leaf: some StringProtocol) -> Bool { leaf.hasSuffix(ContainerLayout.recordSuffix) }

    /// Returns whether the name is that of a secret key: `master.key`, `aes-key.bin`, `hmac_secret`. Names of public
    /// keys and of dictionary or table keys are excluded.
    static func isKey(_ leaf: some StringProtocol) -> Bool {
        let words = NameWords.of(leaf)
        return words.contains(where: keyWords.contains) && !words.contains(where: otherKeyWords.contains)
    }

    private static let keyWords: Set<String> = ["key", "secret", "seed", "aes", "hmac", "kek", "dek"]
    private static let otherKeyWords: Set<String> = [
        "public", "pub", "id", "ids", "identifier", "hash", "digest", "fingerprint", "checksum", "cache", "primary",
        "foreign", "sort", "index", "partition", "idempotency", "uuid",
    ]

    /// Returns whether the name is that of an SQLite log or journal.
    static func isJournal(_ leaf: some StringProtocol) -> Bool { leaf.hasSuffix("-wal") || leaf.hasSuffix("-journal") }

    /// Returns the path of the database that a file belongs to, by SQLite's names for its log, its journal and their
    /// index, or `nil` for every other name.
    static func database(ofCompanion path: String) -> Substring? {
        guard let ending = ["-wal", "-journal", "-shm"].first(where: path.hasSuffix) else { return nil }
        let database = path.dropLast(ending.utf8.count)
        return database.isEmpty || database.hasSuffix("/") ? nil : database
    }

    /// Returns whether the name is that of a backup copy by an editor or a person: `x~`, `x.bak`, `.x.swp`.
    static func isBackup(_ leaf: some StringProtocol) -> Bool {
        let name = leaf.lowercased()
        if name.hasSuffix("~") || (name.hasPrefix("#") && name.hasSuffix("#") && name.utf8.count > 2) { return true }
        return hasEnding(["bak", "backup", "orig", "old", "save", "swp", "swo", "rej"], name)
    }

    /// Returns whether the name is that of an unfinished file of another program: `x.tmp`, `x.part`, `.dat.nosync01.x`,
    /// `x.sb-0123abcd-xyz123`.
    static func isTemporary(_ leaf: some StringProtocol) -> Bool {
        let name = leaf.lowercased()
        if name.hasPrefix(".dat.nosync") || name.contains(".sb-") && name.split(separator: "-").count == 3 {
            return true
        }
        return hasEnding(["tmp", "temp", "part", "partial", "crdownload", "download"], name)
    }

    /// Returns whether the name is that of a lock file.
    static func isLock(_ leaf: some StringProtocol) -> Bool {
        let name = leaf.lowercased()
        return name == "lock" || name == "pid" || hasEnding(["lock", "lck", "pid"], name)
    }

    private static func hasEnding(_ endings: Set<String>, _ name: String) -> Bool {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return false }
        return endings.contains(String(name[name.index(after: dot)...]))
    }
}

/// The words of a name in lowercase: `userAccessToken`, `user_access-token` and `USER.ACCESS.TOKEN` have the same
/// three.
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

/// Names of credentials in records and files.
enum CredentialName {
    private static let words: Set<String> = [
        "token", "tokens", "session", "sessions", "credential", "credentials", "jwt", "bearer", "apikey", "cookie",
        "cookies",
        "accesstoken", "refreshtoken", "authtoken", "idtoken", "sessiontoken", "oauth",
    ]
    /// The last words that exclude a credential: `token_count` is a number, and `session-settings` are settings.
    private static let others: Set<String> = ["count", "settings", "state", "status", "list", "kind", "type", "limit"]

    /// Returns whether the last segment of a record's name indicates a credential: `accounts/ada/access-token`.
    static func matches(_ name: some StringProtocol) -> Bool {
        let segment = name.split(separator: "/").last ?? ""
        let words = NameWords.of(segment)
        guard let last = words.last, !others.contains(last) else { return false }
        return words.contains { self.words.contains($0) } || self.words.contains(words.joined())
    }
}
