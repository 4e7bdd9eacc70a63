internal import Sealing

/// What the examination of one entry comes to.
struct EntryOutcome: Sendable {
    /// The entry in the report's list of files; nil for a directory that was entered, and for what is gone.
    var file: AuditedFile?
    var findings: [Finding] = []
    /// Whether its header claims to be of the group.
    var isOwnBlob = false
    /// Whether no reader of this user has accepted the record before.
    var isFirstContact = false
    /// Whether it was not opened because its key needs the vault to be unlocked.
    var isLocked = false
    /// The tag of the record that it carries.
    var carried: NameTag?
    /// What was left out; findings that are only counted are in `unlisted`.
    var omissions = AuditOmissions()
    var unlisted = FindingTally()
    /// The entries of the ignore list that matched.
    var usedIgnores: Set<String> = []
}
