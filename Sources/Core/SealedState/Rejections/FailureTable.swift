/// The codes that refuse no blob: there is no value, or a call failed.
enum FailureTable {
    static let entries: [CodeEntry] = noValue + writing + plaintextImport + setUp

    private static let noValue = [
        CodeEntry(
            .absent, says: "No record of that name was written, or it was deleted.",
            advice: "Show the placeholder until the producing program has written it."),
        CodeEntry(
            .locked, .key, says: "The key is protected until the vault is unlocked.",
            advice: "Unlock the vault; no new key was created."),
    ]

    private static let writing = [
        CodeEntry(.unencodable, says: "The value cannot be encoded.", advice: seeReason),
        CodeEntry(.invalidName, says: "It is not a valid record name.", advice: seeReason),
        CodeEntry(
            .lockTimeout, says: "Another program held the record's lock for the whole time limit.",
            advice: "Try again, or end the program that holds the lock."),
        CodeEntry(.cancelled, says: "The calling task was cancelled while it waited.", advice: seeReason),
        CodeEntry(
            .durabilityUnknown, says: "The new value is in place, but it may not survive a power loss.",
            advice: "Read it back, and write it again if in doubt."),
        CodeEntry(
            .noSpace, says: "The file system is full.", advice: "Free space and write again; the old value remains."),
        CodeEntry(
            .quotaExceeded, says: "The user's or the group's disk quota is used up.",
            advice: "Free space within the quota or raise it, and write again; the old value remains."),
        CodeEntry(
            .readOnly, says: "The file system is mounted read-only.",
            advice: "Mount the file system for writing; the old value remains."),
        CodeEntry(
            .conflict, says: "The stored record does not satisfy the write's condition; nothing was written.",
            advice: "Read it again and repeat the decision."),
        CodeEntry(
            .leaseLost, says: "Another program has taken the lease in the meantime; nothing was written.",
            advice: "Take the lease again, and expect changes by its other holder."),
        CodeEntry(
            .declined,
            says: "The program's own closure threw an error; nothing was written.",
            advice: seeReason),
        CodeEntry(
            .lockLost,
            says:
                "The new value is in place, but the container's lock file was replaced: a write may be lost.",
            advice: "Read it back, and write it again if it is missing."),
        CodeEntry(
            .backendUnknown, says: "The container's records are in another backend than the program's.",
            advice: "Give the program the group's backend (StoreOptions.backend), or files if it has none."),
        CodeEntry(
            .outcomeUnknown,
            says: "The answer of the backend was lost: whether the new value was written is unknown.",
            advice: "Read it back, and write it again if it is missing."),
        CodeEntry(
            .invalidCursor, says: "It is not a cursor of this record's updates.",
            advice: "Start without a cursor."),
        CodeEntry(
            .invalidRange, says: "The range is not one of the file's contents.",
            advice: "Ask for the file's size first; a range is never shortened."),
        CodeEntry(.leaseTimeout, says: "Other programs held the lease for the whole time limit.", advice: seeReason),
        CodeEntry(.watchLimit, says: "The system provides no more file watches.", advice: seeReason),
        CodeEntry(.permissionDenied, says: "The system's permissions do not allow it.", advice: seeReason),
    ]

    private static let setUp = [
        CodeEntry(.notEntitled, says: "The group is not in the program's entitlements.", advice: seeReason),
        CodeEntry(.entitlements, says: "The program's entitlements cannot be used.", advice: seeReason),
        CodeEntry(.container, says: "The group's container or its directory is unsafe or unusable.", advice: seeReason),
        CodeEntry(.containerMissing, says: "The group has no container, or it was removed.", advice: seeReason),
        CodeEntry(.vaultAbsent, says: "The group has no vault yet.", advice: seeReason),
        CodeEntry(.vaultCorrupt, says: "The vault is damaged.", advice: seeReason),
        CodeEntry(.vaultMissing, says: "The vault, or one of its files, is missing.", advice: seeReason),
        CodeEntry(.vaultReplaced, says: "The vault is not the one that this user's programs know.", advice: seeReason),
        CodeEntry(.vaultNotAccepted, says: "Nothing vouches for the vault yet.", advice: seeReason),
        CodeEntry(.vaultRolledBack, says: "An older copy of the vault was put in its place.", advice: seeReason),
        CodeEntry(.wrongPassphrase, says: "The passphrase opens no slot of the vault.", advice: seeReason),
        CodeEntry(.wrongKeyFile, says: "The key file opens no slot of the vault.", advice: seeReason),
        CodeEntry(
            .orphanedBlobs, says: "Blobs exist whose key the vault does not have; no new key was made.",
            advice: seeReason),
        CodeEntry(
            .keyInUse, says: "The key is active, or is still needed, or it is not known whether it is needed.",
            advice: "Rotate first, end the programs that hold it, or repeat its id with --force-key."),
        CodeEntry(
            .keyNotFound, says: "The vault has no key of that id.",
            advice: "See the keys: sealctl vault rotate --status."),
        CodeEntry(
            .roster, says: "The group's team key, or the memory of its roster, cannot be used.",
            advice: seeReason),
        CodeEntry(.vault, says: "The vault cannot be used.", advice: seeReason),
        CodeEntry(.file, says: "The file system reported an error.", advice: seeReason),
    ]

    private static let seeReason = "See the reason."
}

extension StoreError.Code {
    /// The file to be moved in is missing, cannot be read, is no regular file, or has other names.
    public static let sourceUnusable = StoreError.Code(rawValue: "sourceUnusable")
    /// The file to be moved in is not of the stated kind.
    public static let sourceMalformed = StoreError.Code(rawValue: "sourceMalformed")
    /// The file to be moved in was written while it was moved; it is as its writer left it.
    public static let sourceChanged = StoreError.Code(rawValue: "sourceChanged")
    /// The plaintext was sealed and could not be removed.
    public static let sourceKept = StoreError.Code(rawValue: "sourceKept")
    /// The sealed contents read back differently from the original; the plaintext is unchanged.
    public static let verificationFailed = StoreError.Code(rawValue: "verificationFailed")
    /// The key does not open the file, or is no key of that cipher.
    public static let wrongKey = StoreError.Code(rawValue: "wrongKey")
    /// This processor has no instructions for the cipher.
    public static let cipherUnavailable = StoreError.Code(rawValue: "cipherUnavailable")
}

extension FailureTable {
    static let plaintextImport = [
        CodeEntry(
            .sourceUnusable, says: "The file to import is missing or is not a file that can be imported.",
            advice: "Name another file."),
        CodeEntry(
            .sourceMalformed, says: "The file to import does not have the stated form.",
            advice: "Correct it, or import it in its own form."),
        CodeEntry(
            .sourceChanged, says: "The file was written while it was imported, and was not changed by the import.",
            advice: "End the program that writes it, then try again."),
        CodeEntry(
            .sourceKept, says: "The plaintext was sealed but could not be removed.",
            advice: "Remove the plaintext, or try again as a user with the permission."),
        CodeEntry(
            .verificationFailed,
            says: "The sealed value does not read back as the original; the plaintext was not changed.",
            advice: "Find other programs that write there, and test the disk and the memory of this machine."),
        CodeEntry(
            .wrongKey, says: "The key does not open the file, or the file was changed.",
            advice: "Try the key that the file was sealed with."),
        CodeEntry(
            .cipherUnavailable, says: "This processor lacks the instructions for the cipher.",
            advice: "Import the file on a machine that has them: x86-64 with AES-NI, or ARM with its extension."),
    ]
}
