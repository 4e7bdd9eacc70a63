/// How plaintext is moved in.
public struct MovingInOptions: Sendable, Hashable {
    /// Whether the plaintext stays where it is. False unless stated: it is removed once its sealed form was read back.
    public var keepsSource = false
    /// Whether what lies in the target's place already is replaced where it differs. False unless stated: that is a
    /// conflict, and nothing is changed.
    public var replacesTarget = false
    /// Whether everything is read and compared, and nothing is written or removed.
    public var isDryRun = false
    /// Whether `MovingIn.file` seals a file once more that is sealed already. False unless stated: it is refused.
    public var sealsAgain = false
    /// Files that are never moved, by whatever names they go: those that the move itself needs. The group's vault and the
    /// keys that are given for files are among them unstated.
    public var spared: Set<String> = []
    /// The largest file that is read as a whole, in bytes: records, defaults. Streams have no limit. 16 MiB unless stated.
    public var maximumFileSize = 16 << 20

    /// The defaults.
    public init() {}
}
