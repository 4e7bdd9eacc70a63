// Checks of sealed blobs that their readers refuse, or will refuse.
extension AuditCheck {
    static let blobTampered = AuditCheck(
        id: "blob.tampered", severity: .critical, title: "A sealed blob was changed",
        meaning: "Its header or its contents are not what the writer sealed. Readers refuse it.",
        remedy: "Do not use it; let the producing program write it again, then find out who changed it: "
            + "sealctl inspect {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobReplayed = AuditCheck(
        id: "blob.replayed", severity: .critical, title: "An older blob was put back",
        meaning: "It is authentic, but older than a state that was accepted before. Readers refuse it.",
        remedy: "Let the producing program write the record again, then find out who put it there: "
            + "sealctl inspect {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobForked = AuditCheck(
        id: "blob.forked", severity: .critical, title: "Another blob has the same sequence",
        meaning:
            "It is authentic, but another blob of that sequence was accepted before. A copy of the container or of "
            + "the vault is being written elsewhere. Readers refuse it.",
        remedy: "End the use of the copy, then let the producing program write the record again: "
            + "sealctl inspect {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobSequenceJump = AuditCheck(
        id: "blob.sequence-jump", severity: .high, title: "A sequence is too far ahead",
        meaning: "It is authentic, but its sequence is further ahead than any program writes. Readers refuse it.",
        remedy: "Find out which program wrote it (sealctl inspect {file}), then restore the record from a backup.",
        references: [Reference.tampering, Reference.validation])

    static let blobWrongPlace = AuditCheck(
        id: "blob.wrong-place", severity: .high, title: "A sealed blob is in the wrong place",
        meaning: "It was moved or copied from another record, another app group, or out of the records. "
            + "Readers refuse it there.",
        remedy: "Put it back where it was written, or move it away and let the producing program write the record "
            + "again: sealctl inspect {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobUnknownKey = AuditCheck(
        id: "blob.unknown-key", severity: .high, title: "The vault does not hold the blob's key",
        meaning:
            "It was sealed under a key that the group's vault does not have. Either the vault does not belong to the "
            + "container, or the key was destroyed, or the header was changed.",
        remedy: "Restore the vault that belongs to this container. To see the key that it needs: "
            + "sealctl inspect {file}",
        references: [Reference.keys, Reference.testKeys])

    static let blobWrongEpoch = AuditCheck(
        id: "blob.wrong-epoch", severity: .high, title: "A blob's epoch does not match its key",
        meaning: "The vault has another epoch for that key. Either the blob or the vault was rolled back or changed.",
        remedy: "Restore vault and container from the same moment, or let the producing program write the record "
            + "again: sealctl inspect {file}",
        references: [Reference.keys, Reference.tampering])

    static let blobRetired = AuditCheck(
        id: "blob.retired-key", severity: .high, title: "A blob under a key that was retired",
        meaning:
            "A completed rotation resealed every blob. This one was put back, or was sealed under the old key "
            + "afterwards. Readers refuse it.",
        remedy: "Let the producing program write the record again, then find out who put it there: "
            + "sealctl inspect {file}",
        references: [Reference.keys, Reference.tampering])

    static let blobDowngraded = AuditCheck(
        id: "blob.downgraded", severity: .critical, title: "A program's blob in the place of a protected record",
        meaning:
            "The record's name is protected when unlocked, and the blob is sealed under a key that unattended "
            + "programs have. One of these programs, or a holder of its key file, put it there. Readers refuse it.",
        remedy: "Let a person write the record again, then find out which program put it there: sealctl inspect {file}",
        references: [Reference.keys, Reference.tampering])

    static let blobMalformed = AuditCheck(
        id: "blob.malformed", severity: .high, title: "A damaged blob",
        meaning: "It begins like a sealed blob or is named like one, but its header or length is impossible.",
        remedy: "Let the producing program write it again, or restore it from a backup: sealctl inspect {file}",
        references: [Reference.tampering, Reference.validation])

    static let blobUnsupported = AuditCheck(
        id: "blob.unsupported", severity: .medium, title: "A blob of an unknown format",
        meaning: "It is a sealed blob of a format, suite or kind that this version does not know.",
        remedy: "Update sealctl and the programs of the group: sealctl --version",
        references: [Reference.cryptography])

    static let blobOversized = AuditCheck(
        id: "blob.oversized", severity: .low, title: "A record is larger than its readers allow",
        meaning: "Readers with the container's limit for records refuse it before they open it.",
        remedy: "Raise the limit for all programs of the group, or let the producing program write less: "
            + "sealctl container record-limit --group {group}",
        references: [Reference.validation])

    static let blobStale = AuditCheck(
        id: "blob.stale", severity: .info, title: "A record has expired",
        meaning: "It is past the expiry time that its writer gave it. Readers show their placeholder.",
        remedy: "Wait for the producing program to refresh it, or delete it: sealctl list --group {group}",
        references: [Reference.storage])

    static let blobNotYetValid = AuditCheck(
        id: "blob.not-yet-valid", severity: .medium, title: "A blob was sealed in the future",
        meaning: "Its time is ahead of this machine's clock. Either its time or the clock is wrong. Readers refuse it.",
        remedy: "Check the clock (timedatectl), then let the producing program write it again.",
        references: [Reference.tampering])

    static let recordMissing = AuditCheck(
        id: "record.missing", severity: .high, title: "A record is missing without a deletion",
        meaning:
            "Readers have accepted it before, but neither a blob nor a deletion mark is left. Either its file was "
            + "removed, or the container was put back to an earlier state. Only tags of the names are known.",
        remedy:
            "Compare the present records with the expected ones (sealctl list --group {group}), then restore the "
            + "record from a backup or let the producing program write it again.",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobNotAuthorized = AuditCheck(
        id: "blob.not-authorized", severity: .critical, title: "No authorized writer has signed a governed record",
        meaning:
            "It is authentic, and the group's roster governs its name, but no writer that may write it has signed "
            + "it. A program that holds the group's keys wrote it. Readers refuse it.",
        remedy: "Let its writer write it again, then find out which program wrote it: sealctl inspect {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let blobRosterBehind = AuditCheck(
        id: "blob.roster-behind", severity: .medium, title: "A record of a newer roster",
        meaning: "It was signed under a newer version of the roster than the one in the container.",
        remedy: "Put the newest roster in the container: sealctl roster show --group {group}",
        references: [Reference.tampering])

    static let rosterNotCurrent = AuditCheck(
        id: "roster.not-current", severity: .high, title: "The roster is not the one that was accepted",
        meaning:
            "The roster's file is missing, older, forked, damaged or not signed by the team key. The roster that "
            + "this user accepted last stays in effect. New users have no roster.",
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
        meaning:
            "The blob is authentic, but its contents do not match its header, or have more structure than readers "
            + "accept. Readers refuse it.",
        remedy: "Let the producing program write it again: sealctl inspect {file}",
        references: [Reference.validation])

    static let recordExpiryUnsealed = AuditCheck(
        id: "record.expiry-unsealed", severity: .info, title: "A record's expiry time is not in its header",
        meaning:
            "The contents name a time after which they are not valid, but the blob was sealed without one. Readers "
            + "continue to accept it. Low if that time has passed.",
        remedy: "Give the record's type an expiresAt, or write it with an expiry time: "
            + "sealctl put --group {group} --expires-in 1h NAME FILE",
        references: [Reference.authentication, Reference.storage])

    static let recordEndless = AuditCheck(
        id: "record.endless", severity: .info, title: "Records of credentials never expire",
        meaning:
            "By their names they hold tokens or sessions, but they were sealed without an expiry time. Readers "
            + "accept them as long as they exist.",
        remedy: "Give the records' types an expiresAt or a maximumAge.",
        references: [Reference.authentication, Reference.storage])

    static let recordReachable = AuditCheck(
        id: "record.reachable", severity: .info, title: "Records of credentials are open after the first unlock",
        meaning:
            "By their names they hold tokens or sessions. Their key is available until the machine restarts, "
            + "although this vault has a class that is locked when its user is away.",
        remedy: "Declare the records' types with protection whenUnlocked where no unattended program reads them.",
        references: [Reference.storage, Reference.keys, Reference.testKeys])

    static let records = [recordUnreadable, recordExpiryUnsealed, recordEndless, recordReachable]
}
