/// What an examination of a sealed blob comes to.
struct BlobExamination: Sendable {
    var verdict: Verdict
    var findings: [Finding] = []
    /// Whether no reader of this user has accepted the record before: a replay could not be told.
    var isFirstContact = false
    /// Whether it was not opened because its key needs the vault to be unlocked.
    var isLocked = false

    /// Refused, and what that is as a finding.
    static func refused(_ code: String, _ finding: Finding) -> BlobExamination {
        BlobExamination(verdict: .refused(code), findings: [finding])
    }
}
