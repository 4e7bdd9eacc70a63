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
