/// What went into a backup, and what did not.
public struct ExportReport: Sendable, Hashable {
    /// The file that was made.
    public let path: String
    /// Its size in bytes.
    public let size: Int
    /// How many items it holds.
    public let itemCount: Int
    /// Items that were left out because they are marked `…ThisDeviceOnly`; empty where no item was asked for.
    public let leftOut: [VaultItem]
    /// Its sealing keys, without anything secret. Destroyed ones are named there; nothing of them is left to keep.
    package let keys: [KeySummary]

    /// How many sealing keys it holds, destroyed ones not counted.
    public var keyCount: Int { keys.count { $0.state != .destroyed } }
}
