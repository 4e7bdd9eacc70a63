internal import ContentDecoding
internal import Sealing
internal import SharedFiles

/// An entry that was looked at: its facts, its class, and the header that it claims.
struct AuditSubject: Sendable {
    let entry: ContainerEntry
    let attributes: FileAttributes
    /// What it is, its place counted in: a lock file, a temporary, a quarantined copy.
    let kind: FileClass
    /// What its bytes are, wherever it lies.
    let content: FileClass
    /// What its header claims, or why that is refused; nil for what does not claim to be a sealed blob.
    let header: Result<UnverifiedHeader, SealingError>?
    /// What else its first bytes say.
    var marks: ContentMarks = []
    /// The form that its reader knows, of content that is no text, property list or database; nil where there is none.
    var form: CarrierForm?

    var path: String { entry.path }
    var place: ContainerPlace { entry.place }
}
