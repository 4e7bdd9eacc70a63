/// What becomes of a key that a dictionary in OpenStep's notation holds twice.
package enum RepeatedKeys: Sendable {
    /// The text is refused: which of the two counted would be the reader's choice.
    case refused
    /// The last one counts, as it does for Apple's readers. For files that other programs read the same way, such as Xcode's
    /// projects after a merge.
    case lastCounts
}
