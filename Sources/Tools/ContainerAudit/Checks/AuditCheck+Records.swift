// Records that are authentic, and what their owners may want to know of them.
extension AuditCheck {
    static let recordUnreadable = AuditCheck(
        id: "record.unreadable", severity: .high, title: "A record's contents cannot be decoded",
        meaning: "The blob is authentic, and what it holds is not what its header says, or has more structure than "
            + "readers take: they refuse it.",
        remedy: "Let the producing program write it anew: sealctl inspect {file}",
        references: [Reference.validation])

    static let recordExpiryUnsealed = AuditCheck(
        id: "record.expiry-unsealed", severity: .info, title: "A record knows its end, and its header does not",
        meaning:
            "The contents name a time after which they are not valid, and the blob was sealed without one: readers "
            + "go on taking it. Low where that time has passed.",
        remedy: "Give the record's type an expiresAt, or write it with an end: "
            + "sealctl put --group {group} --expires-in 1h NAME FILE",
        references: [Reference.authentication, Reference.storage])

    static let recordEndless = AuditCheck(
        id: "record.endless", severity: .info, title: "Records of credentials never expire",
        meaning: "By their names they hold tokens or sessions, and they were sealed without an end: readers take them "
            + "for as long as they lie there.",
        remedy: "Give the records' types an expiresAt or a maximumAge.",
        references: [Reference.authentication, Reference.storage])

    static let recordReachable = AuditCheck(
        id: "record.reachable", severity: .info, title: "Records of credentials are open after the first unlock",
        meaning: "By their names they hold tokens or sessions, and their key is at hand until the machine restarts, "
            + "although this vault has a class that is locked when its user is away.",
        remedy: "Declare the records' types with protection whenUnlocked where no unattended program reads them.",
        references: [Reference.storage, Reference.keys, Reference.testKeys])

    static let records = [recordUnreadable, recordExpiryUnsealed, recordEndless, recordReachable]
}
