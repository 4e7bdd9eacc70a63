// Checks of file values besides secrets: switches, and the stores that contain them.
extension AuditCheck {
    static let switchWeakens = AuditCheck(
        id: "switch.insecure", severity: .medium, title: "A protection is switched off in an open file",
        meaning:
            "By its name the value takes a protection of a program away: encryption, the check of a certificate, a "
            + "login. Low for debugging and logging. Whoever writes the file can do that as well.",
        remedy: "Turn it, and take such switches out of what is released; seal those that have to stay: "
            + "sealctl import file --group {group} {file}",
        references: [Reference.network, Reference.pinning, Reference.storage, Reference.testPinning])

    static let switchDecides = AuditCheck(
        id: "switch.editable", severity: .low, title: "A decision of security lies in an open file",
        meaning: "By its name a program decides by it who is signed in, what was paid, or whether a lock is needed; "
            + "whoever writes the file decides instead.",
        remedy: "Keep it in a sealed record or suite, where a change is noticed: "
            + "sealctl import file --group {group} {file}",
        references: [
            Reference.authentication, Reference.localAuthentication, Reference.tampering, Reference.testIntegrity,
        ])

    static let databaseFreed = AuditCheck(
        id: "database.deleted-values", severity: .low, title: "A database keeps what was deleted from it",
        meaning:
            "Rows that programs deleted or changed still lie in its free pages, until something is written over them.",
        remedy: "Have it overwrite what it deletes, and write it anew: "
            + "sqlite3 {file} 'PRAGMA secure_delete = ON; VACUUM'",
        references: [Reference.storage, Reference.leakage, Reference.testStorage])

    static let databaseLogged = AuditCheck(
        id: "database.logged-values", severity: .info, title: "A database's log holds values of its own",
        meaning:
            "They are in the write-ahead log or the journal beside the database, what was written last among them: "
            + "who copies or seals only the database leaves them lying there, and deleted rows stay in it.",
        remedy: "Close the programs, then move the log into the database: "
            + "sqlite3 {database} 'PRAGMA wal_checkpoint(TRUNCATE)'",
        references: [Reference.storage, Reference.testStorage])

    static let databaseCoreData = AuditCheck(
        id: "database.core-data", severity: .info, title: "A Core Data store that is not sealed",
        meaning: "Core Data encrypts nothing itself; on Apple's systems only the file's protection class does.",
        remedy: "Keep what is secret out of it, in sealed records, and the rest under "
            + "NSPersistentStoreFileProtectionKey.",
        references: [Reference.storage, Reference.testStorage])

    static let cookieFlags = AuditCheck(
        id: "cookie.insecure", severity: .medium, title: "A session's cookie is not kept to the server",
        meaning:
            "Without Secure it may be sent over a connection that others read; without HttpOnly alone, which is low, "
            + "scripts of the page read it.",
        remedy: "Have the server set the cookie with Secure and HttpOnly.",
        references: [Reference.network, Reference.authentication, Reference.testNetwork])

    static let rawKeyValue = AuditCheck(
        id: "value.raw-key", severity: .high, title: "A bare key among a file's values",
        meaning: "By its name, its size and its randomness it is a key in raw bytes: it opens what it was made for.",
        remedy:
            "Keep it in the group's vault instead (sealctl vault add --group {group} -s SERVICE -a ACCOUNT), and make a "
            + "new one if others could read it.",
        references: [Reference.keys, Reference.storage, Reference.testKeys, Reference.testKeysInFiles])

    static let stores = [
        switchWeakens, switchDecides, rawKeyValue, cookieFlags, databaseFreed, databaseLogged, databaseCoreData,
    ]
}
