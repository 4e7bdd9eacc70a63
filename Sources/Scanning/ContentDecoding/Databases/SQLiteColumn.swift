/// A column, as records have them.
struct SQLiteColumn: Sendable {
    /// What a column's declaration asks of its values (SQLite, "Datatypes", section 3.1).
    enum Affinity: Sendable {
        case integer, text, blob, real, numeric

        init(declared type: String) {
            self =
                if type.contains("INT") {
                    .integer
                } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
                    .text
                } else if type.isEmpty || type.contains("BLOB") {
                    .blob
                } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
                    .real
                } else {
                    .numeric
                }
        }
    }

    let name: String
    let affinity: Affinity
    /// Another name of the row id: its records hold NULL.
    let isRowID: Bool
    /// Whether no two rows have the same value in it.
    let isUnique: Bool
    /// What it is called where a leaf is named.
    var called: [UInt8]
    /// Whether its values are programs in SQL, and no single values.
    var isRunningText = false

    init(name: String, affinity: Affinity = .blob, isRowID: Bool = false, isUnique: Bool = false) {
        self.name = name
        self.affinity = affinity
        self.isRowID = isRowID
        self.isUnique = isUnique
        called = Array(name.utf8)
    }

    /// How well a value suits the column; nil where it contradicts it.
    func suits(_ type: SerialType) -> Int? {
        if isRowID { return type.kind == .null ? 2 : nil }
        return switch (affinity, type.kind) {
        case (_, .null): 0
        case (.text, .text), (.blob, .blob), (.integer, .integer), (.integer, .zero), (.integer, .one): 2
        case (.real, .real): 2
        case (.text, .integer), (.text, .real), (.text, .zero), (.text, .one): nil
        case (.integer, .text), (.real, .text): nil
        default: 0
        }
    }

    /// The name in small letters without signs, and without the `Z` of Core Data.
    var plainName: [UInt8] {
        let letters = name.utf8.filter { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || $0 >= 0x80 }
        let isCoreData = letters.count > 1 && letters[0] == UInt8(ascii: "Z") && letters.allSatisfy { $0 & 0x20 == 0 }
        return letters.dropFirst(isCoreData ? 1 : 0).map { $0 < 0x80 ? $0 | 0x20 : $0 }
    }

    /// Whether the values can be text that names something.
    var mayHoldNames: Bool { affinity != .integer && affinity != .real && !isRowID }

    /// Whether the name itself says that the values are secret: no other name would say more.
    var isTelling: Bool {
        let name = plainName.suffix(Self.mostTellingLetters)
        return name.indices.contains { start in Self.tellingWords.contains { name[start...].starts(with: $0) } }
    }

    private static let mostTellingLetters = 64
    private static let tellingWords = [
        "password", "passwd", "passphrase", "passcode", "secret", "token", "credential", "session", "cookie", "jwt",
        "bearer", "auth", "apikey", "accesskey", "privatekey", "masterkey", "signingkey", "encryptionkey", "mnemonic",
        "pincode", "cvv", "cardnumber", "ssn",
    ].map { Array($0.utf8) }
}
