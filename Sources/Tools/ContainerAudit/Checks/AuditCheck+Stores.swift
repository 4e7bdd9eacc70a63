// Checks of file values besides secrets: switches, and the stores that contain them.
extension AuditCheck {
    static let switchWeakens = AuditCheck(
        id: "switch.insecure", severity: .medium, title: "A protection is switched off in a plaintext file",
        meaning:
            "By its name the value switches a protection of a program off: encryption, the check of a certificate, a "
            + "login. Low for debugging and logging. A program that can write the file can switch the protection off "
            + "as well.",
        remedy:
            "Set it to its safe value, and remove such switches from released programs. Seal those that have to "
            + "stay: sealctl import file --group {group} {file}",
        references: [Reference.network, Reference.pinning, Reference.storage, Reference.testPinning])

    static let switchDecides = AuditCheck(
        id: "switch.editable", severity: .low, title: "A security decision is stored in a plaintext file",
        meaning:
            "By its name a program uses the value to decide who is signed in, what was paid, or whether a lock is "
            + "needed. A program that can write the file can change the decision.",
        remedy: "Keep it in a sealed record or suite, where a change is detected: "
            + "sealctl import file --group {group} {file}",
        references: [
            Reference.authentication, Reference.localAuthentication, Reference.tampering, Reference.testIntegrity,
        ])

    static let databaseFreed = AuditCheck(
        id: "database.deleted-values", severity: .low, title: "A database keeps deleted values",
        meaning: "Rows that programs deleted or changed remain in its free pages until they are overwritten.",
        remedy: "Make the database overwrite deleted rows, and rewrite it: "
            + "sqlite3 {file} 'PRAGMA secure_delete = ON; VACUUM'",
        references: [Reference.storage, Reference.leakage, Reference.testStorage])

    static let databaseLogged = AuditCheck(
        id: "database.logged-values", severity: .info, title: "A database's log holds further values",
        meaning:
            "The write-ahead log or the journal beside the database holds values, the last ones written among them. "
            + "A program that copies or seals only the database leaves these values in the log. Deleted rows remain in "
            + "it as well.",
        remedy: "Close the programs, then move the log into the database: "
            + "sqlite3 {database} 'PRAGMA wal_checkpoint(TRUNCATE)'",
        references: [Reference.storage, Reference.testStorage])

    static let databaseDamaged = AuditCheck(
        id: "database.damaged", severity: .high, title: "The database of the records is damaged",
        meaning:
            "It is missing, is not a database of sealed records, or its pages and indexes contradict each other. "
            + "Records may be lost, and programs of the group may not be able to open the container.",
        remedy: "Stop the group's programs and restore the database from a snapshot of the container, together with "
            + "the log beside it: ls -l {file}*",
        references: [Reference.storage, Reference.tampering])

    static let databaseCoreData = AuditCheck(
        id: "database.core-data", severity: .info, title: "A Core Data store that is not sealed",
        meaning: "Core Data encrypts nothing itself; on Apple's systems only the file's protection class does.",
        remedy:
            "Keep secrets out of it, in sealed records, and protect the rest with "
            + "NSPersistentStoreFileProtectionKey.",
        references: [Reference.storage, Reference.testStorage])

    static let cookieFlags = AuditCheck(
        id: "cookie.insecure", severity: .medium, title: "A session cookie is not restricted to the server",
        meaning:
            "Without Secure, the cookie may be sent over a connection that others can read. Without HttpOnly, "
            + "scripts of the page can read it; low if only HttpOnly is missing.",
        remedy: "Have the server set the cookie with Secure and HttpOnly.",
        references: [Reference.network, Reference.authentication, Reference.testNetwork])

    static let rawKeyValue = AuditCheck(
        id: "value.raw-key", severity: .high, title: "A bare key among a file's values",
        meaning:
            "By its name, its size and its randomness it is a key in raw bytes. It opens the data that it was made "
            + "for.",
        remedy:
            "Keep it in the group's vault instead (sealctl vault add --group {group} -s SERVICE -a ACCOUNT), and make "
            + "a new one if others could read it.",
        references: [Reference.keys, Reference.storage, Reference.testKeys, Reference.testKeysInFiles])

    static let stores = [
        switchWeakens, switchDecides, rawKeyValue, cookieFlags, databaseDamaged, databaseFreed, databaseLogged,
        databaseCoreData,
    ]
}
