internal import AppGroups
internal import FoundationEssentials
internal import SealedState
internal import SharedFiles

/// What an audit looks at, and with what; the same for all of its files.
struct AuditScope: Sendable {
    /// The container, open; every path goes through it.
    let root: Directory
    /// The container's own facts.
    let rootAttributes: FileAttributes
    /// The container's path without links.
    let realPath: String
    /// The group, where it is known.
    let group: AppGroup?
    /// Where the group lies, where it is known.
    let home: GroupsHome?
    /// Opens blobs and knows what was accepted; nil without keys.
    let store: SealedStore?
    let options: AuditOptions
    let ownFiles: OwnFiles
    let now: Date
    /// The records that lie in their place, to tell whose blob a moved one is.
    let names: RecordNames

    var limits: AuditLimits { options.limits }

    /// Milliseconds since 1970, as headers have them.
    var nowMilliseconds: UInt64 { UInt64(max(0, now.timeIntervalSince1970 * 1000)) }
}
