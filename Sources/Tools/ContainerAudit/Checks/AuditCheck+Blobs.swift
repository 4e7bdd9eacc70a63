// Checks of sealed blobs that their readers refuse, or will refuse.
extension AuditCheck {
    static let blobTampered = AuditCheck(
        id: "blob.tampered", severity: .critical, title: "A sealed blob was changed",
        meaning: "Its header or its contents are not what the writer sealed. Readers refuse it.",
        remedy: "Do not use it; let the producing program write it anew, then find out who changed it: "
            + "sealctl inspect {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobReplayed = AuditCheck(
        id: "blob.replayed", severity: .critical, title: "An older blob was put back",
        meaning: "It is authentic, and older than a state that was accepted before. Readers refuse it.",
        remedy: "Let the producing program write the record anew, then find out who put it there: "
            + "sealctl inspect {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobForked = AuditCheck(
        id: "blob.forked", severity: .critical, title: "Another blob has the same sequence",
        meaning: "It is authentic, and another blob of that sequence was accepted before: a copy of the container or "
            + "of the vault is being written elsewhere. Readers refuse it.",
        remedy: "End the use of the copy, then let the producing program write the record anew: "
            + "sealctl inspect {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobSequenceJump = AuditCheck(
        id: "blob.sequence-jump", severity: .high, title: "A sequence is too far ahead",
        meaning: "It is authentic, and further ahead than any program writes. Readers refuse it.",
        remedy: "Find out which program wrote it (sealctl inspect {file}), then restore the record from a backup.",
        references: [Reference.tampering, Reference.validation])

    static let blobWrongPlace = AuditCheck(
        id: "blob.wrong-place", severity: .high, title: "A sealed blob lies in the wrong place",
        meaning: "It was moved or copied from another record, another app group, or out of the records. "
            + "Readers refuse it there.",
        remedy: "Put it back where it was written, or move it away and let the producing program write the record "
            + "anew: sealctl inspect {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobUnknownKey = AuditCheck(
        id: "blob.unknown-key", severity: .high, title: "The vault does not hold the blob's key",
        meaning: "It was sealed under a key that the group's vault does not have: the vault is not the one that "
            + "belongs to the container, the key was destroyed, or the header was changed.",
        remedy: "Restore the vault that belongs to this container; which key it needs: sealctl inspect {file}",
        references: [Reference.keys, Reference.testKeys])

    static let blobWrongEpoch = AuditCheck(
        id: "blob.wrong-epoch", severity: .high, title: "A blob's epoch does not fit its key",
        meaning: "The vault has another epoch for that key: one of the two was rolled back or changed.",
        remedy: "Restore vault and container from the same moment, or let the producing program write the record "
            + "anew: sealctl inspect {file}",
        references: [Reference.keys, Reference.tampering])

    static let blobRetired = AuditCheck(
        id: "blob.retired-key", severity: .high, title: "A blob under a key that was retired",
        meaning:
            "A rotation was completed, which resealed every blob: this one was put back, or sealed under the old key "
            + "since. Readers refuse it.",
        remedy: "Let the producing program write the record anew, then find out who put it there: "
            + "sealctl inspect {file}",
        references: [Reference.keys, Reference.tampering])

    static let blobDowngraded = AuditCheck(
        id: "blob.downgraded", severity: .critical, title: "A program's blob in the place of a protected record",
        meaning:
            "The record's name is protected when unlocked, and the blob is sealed under a key that unattended programs "
            + "have: one of them, or a holder of its key file, put it there. Readers refuse it.",
        remedy: "Let a person write the record anew, then find out which program put it there: sealctl inspect {file}",
        references: [Reference.keys, Reference.tampering])

    static let blobMalformed = AuditCheck(
        id: "blob.malformed", severity: .high, title: "A damaged blob",
        meaning: "It begins or is named as a sealed blob is, and its header or length is impossible.",
        remedy: "Let the producing program write it anew, or restore it from a backup: sealctl inspect {file}",
        references: [Reference.tampering, Reference.validation])

    static let blobUnsupported = AuditCheck(
        id: "blob.unsupported", severity: .medium, title: "A blob of an unknown format",
        meaning: "It is a sealed blob of a format, suite or kind that this version does not know.",
        remedy: "Update sealctl and the programs of the group: sealctl --version",
        references: [Reference.cryptography])

    static let blobOversized = AuditCheck(
        id: "blob.oversized", severity: .low, title: "A record is larger than its readers allow",
        meaning: "Readers with the usual size limit refuse it before they open it.",
        remedy: "Raise the limit of the programs that read it, or let the producing program write less: "
            + "sealctl inspect {file}",
        references: [Reference.validation])

    static let blobStale = AuditCheck(
        id: "blob.stale", severity: .info, title: "A record has expired",
        meaning: "It is past the end that its writer gave it. Readers show their placeholder.",
        remedy: "Wait for the producing program to refresh it, or delete it: sealctl list --group {group}",
        references: [Reference.storage])

    static let blobNotYetValid = AuditCheck(
        id: "blob.not-yet-valid", severity: .medium, title: "A blob was sealed in the future",
        meaning: "Its time lies ahead of this machine's clock: one of the two is wrong. Readers refuse it.",
        remedy: "Check the clock (timedatectl), then let the producing program write it anew.",
        references: [Reference.tampering])

    static let recordMissing = AuditCheck(
        id: "record.missing", severity: .high, title: "A record is gone without a deletion",
        meaning: "Readers have accepted it before, and neither a blob nor the mark of a deletion is left: its file was "
            + "removed, or the container was put back to an earlier state. Only tags of the names are known.",
        remedy:
            "Compare what is there with what should be (sealctl list --group {group}), then restore the record from "
            + "a backup or let the producing program write it anew.",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobNotAuthorized = AuditCheck(
        id: "blob.not-authorized", severity: .critical, title: "No writer with the right has signed a governed record",
        meaning:
            "It is authentic, its name is governed by the group's roster, and it is not signed by a writer that may "
            + "write it: a program that holds the group's keys wrote it. Readers refuse it.",
        remedy: "Let its writer write it anew, then find out which program wrote it: sealctl inspect {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobRosterBehind = AuditCheck(
        id: "blob.roster-behind", severity: .medium, title: "A record of a newer roster",
        meaning: "It was signed under a newer version of the roster than the one in the container.",
        remedy: "Put the newest roster in the container: sealctl roster show --group {group}",
        references: [Reference.tampering])

    static let rosterNotCurrent = AuditCheck(
        id: "roster.not-current", severity: .high, title: "The roster is not the one that was accepted",
        meaning:
            "The roster's file is missing, older, forked, damaged or not signed by the team key. The roster that this "
            + "user accepted last goes on; users who come first have none.",
        remedy:
            "Put the newest signed roster in its place, then find out who changed it: sealctl roster verify --group "
            + "{group}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobs = [
        blobTampered, blobReplayed, blobForked, blobSequenceJump, blobWrongPlace, blobUnknownKey, blobWrongEpoch,
        blobRetired, blobDowngraded, blobMalformed, blobUnsupported, blobOversized, blobStale, blobNotYetValid,
        recordMissing, blobNotAuthorized, blobRosterBehind, rosterNotCurrent,
    ]
}

// Checks of authentic records with notable contents.
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
