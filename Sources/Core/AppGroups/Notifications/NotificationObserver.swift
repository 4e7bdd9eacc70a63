internal import SharedFiles
internal import Synchronization

/// Compares a notification's token with the last one it saw: that tells posts from events that mean nothing, and makes up
/// for events that were lost.
///
/// Why no post is missed: the monitor watches before `begin` reads the first token, and a post writes its token before its
/// event. A post after `begin` therefore has an event that leads to `look`, which finds this post's token or a later one; an
/// event that comes before `begin` is of a post whose token `begin` reads.
final class NotificationObserver: Sendable {
    private let board: NotificationBoard
    private let name: NotificationName
    /// The last token; nil before `begin`. Read and compared under this lock, which nothing else is taken under.
    private let last: Mutex<GroupNotificationToken?> = Mutex(nil)

    init(board: NotificationBoard, name: NotificationName) {
        self.board = board
        self.name = name
    }

    func begin() throws(AppGroupError) {
        try last.withLock { (last) throws(AppGroupError) in last = try board.token(name) }
    }

    /// Whether it is to be told: there was a post since the last look, or may have been. Reads files.
    func look() -> Bool { last.withLock { isPosted(since: &$0) } }

    private func isPosted(since last: inout GroupNotificationToken?) -> Bool {
        guard let seen = last else { return false }
        do throws(AppGroupError) {
            let found = try board.token(name)
            // Gone is not posted; kept, so that the same file moved back is not posted either.
            if found == .none || found == seen { return false }
            last = found
            return true
        } catch {
            return Self.mayHideAPost(error)
        }
    }

    /// What is refused here is refused to posters as well. Everything else, such as a lack of descriptors, may be this
    /// process's trouble alone: better told once too often.
    private static func mayHideAPost(_ error: AppGroupError) -> Bool {
        switch error.code {
        case .notADirectory, .unsafeContainer, .notShared: false
        case .file: error.underlying?.code != .unsafePath && error.underlying?.code != .notRegularFile
        default: true
        }
    }
}
