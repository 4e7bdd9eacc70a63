/// How a new value is kept out of sight while it is written.
package enum TemporaryStrategy: Sendable, Hashable, CaseIterable {
    /// `anonymous` where the file system and /proc allow it, else `named`.
    case automatic
    /// A file without a name (`O_TMPFILE`): a crash while writing leaves nothing at all.
    case anonymous
    /// A hidden file with a random name: a crash while writing leaves it, and the next write of that name removes it.
    case named
}
