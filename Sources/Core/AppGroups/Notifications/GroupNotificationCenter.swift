public import SharedFiles
internal import Synchronization

/// Named notifications without content, between all programs of an app group, in the manner of Darwin notifications.
///
/// Whoever may use the group's container may post and observe, whichever unix user it runs as. A notification says
/// that something happened, not what: look at the shared state after it.
///
/// What is promised:
/// - After a post an observer that was registered before it is told at least once, its own process's posts included.
/// - Posts that come while an observer has not been told of the one before, or is still handling it, become one.
/// - What was posted before the registration is not told. ``token(of:)`` shows it.
/// - An observer may rarely be told without a post; it is never told after it was cancelled.
/// - The container may be removed and made again, and need not exist when observing begins.
///
/// Names have 1 to 128 bytes of UTF-8, any characters, and are compared by their bytes. A notification costs one small
/// file in the container, which stays. `docs/guides/watching-and-settings.md` describes notifications.
public final class GroupNotificationCenter: Sendable {
    /// The group whose programs hear each other.
    public let group: AppGroup

    private let board: NotificationBoard

    /// The center of an app group.
    ///
    /// - Parameters:
    ///   - home: Where containers lie.
    ///   - creating: Whether to make the container if it is missing. With `false` nothing is looked at yet: observers wait for
    ///     the container, and a post fails until it is there.
    ///   - sharing: Who may use a container that this call makes.
    ///   - entitlements: Whose entitlements have to hold the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` with `notEntitled` for a group that the entitlements do not hold; as `GroupContainer.open`
    ///   does, if `creating`.
    public init(
        group: AppGroup, in home: GroupsHome, creating: Bool = true, sharing: Sharing = .ownerOnly,
        entitlements: EntitlementPolicy = .program
    ) throws(AppGroupError) {
        try entitlements.require(group)
        self.group = group
        board = NotificationBoard(group: group, home: home)
        if creating { _ = try GroupContainer.open(group, in: home, sharing: sharing, entitlements: .unchecked) }
    }

    /// The center of an open container's group. A container that takes its place is used as well.
    public init(_ container: GroupContainer) {
        group = container.group
        board = NotificationBoard(group: container.group, home: container.home)
    }
}

extension GroupNotificationCenter {
    /// Posts a notification. Needs no observer, and does not wait for one.
    ///
    /// - Throws: ``AppGroupError`` with `invalidNotificationName`; `containerMissing`; `unsafeContainer` or `notShared` as
    ///   `GroupContainer.open`; `file` for something else under the notification's name (a link, a FIFO, a device, another
    ///   file), which is left as it is, and for what the system refuses.
    public func post(_ name: String) throws(AppGroupError) {
        try board.post(NotificationName(name))
    }

    /// The notification's state now: it differs from an earlier one if, and only if, there was a post in between.
    ///
    /// For programs that ask now and then instead of observing. A container or a notification that does not exist is
    /// the state before the first post.
    public func token(of name: String) throws(AppGroupError) -> GroupNotificationToken {
        try board.token(NotificationName(name))
    }

    /// Calls a handler after posts, until the observation is cancelled or let go.
    ///
    /// - Parameter handler: Runs in a task of its own, one call at a time.
    /// - Throws: ``AppGroupError`` with `invalidNotificationName`; `unsafeContainer`, `notShared` or `file` where the container
    ///   or the notification's file is there and can't be used; `file` with the underlying `watchLimit` where the user's
    ///   inotify limits are used up.
    public func observe(
        _ name: String, _ handler: @escaping @Sendable () async -> Void
    ) throws(AppGroupError) -> GroupNotificationObservation {
        let isEnded = EndMark()
        let registration = try register(NotificationName(name)) {
            if !isEnded.isSet { await handler() }
        }
        return GroupNotificationObservation(registration, isEnded)
    }

    /// The notification's posts from now on, as a sequence that holds at most one for a slow consumer.
    ///
    /// Registered when this returns. It ends when its task is cancelled or it is let go.
    /// - Throws: as ``observe(_:_:)``.
    public func notifications(named name: String) throws(AppGroupError) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let registration = try register(NotificationName(name)) { _ = continuation.yield() }
        continuation.onTermination = { _ in registration.cancel() }
        return stream
    }

    private func register(
        _ name: NotificationName, _ deliver: @escaping @Sendable () async -> Void
    ) throws(AppGroupError) -> NotificationRegistration {
        let observer = NotificationObserver(board: board, name: name)
        let (events, telling) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch = NotificationWatch(board, name) { telling.yield() }
        do throws(FileError) { try watch.begin() } catch { throw AppGroupError(error, withNotification: name.string) }
        // Only now: a post between the two must have its event.
        try observer.begin()
        // The monitor's thread only tells that something happened: files are read here.
        Task.detached {
            for await _ in events {
                // Before the look, which then finds what was posted in another container before it was watched.
                watch.follow()
                if observer.look() { await deliver() }
            }
        }
        return NotificationRegistration(watch, telling)
    }
}

/// An observer's place in a notification center; it ends with this object.
public final class GroupNotificationObservation: Sendable {
    private let registration: NotificationRegistration
    private let isEnded: EndMark

    init(_ registration: NotificationRegistration, _ isEnded: EndMark) {
        self.registration = registration
        self.isEnded = isEnded
    }

    deinit { cancel() }

    /// Ends it. Once this has returned no call of the handler begins; one that has begun may still be running.
    public func cancel() {
        isEnded.set()
        registration.cancel()
    }
}

/// A watch of a notification's file, and the task that looks at the file after each event; both end with this object.
final class NotificationRegistration: Sendable {
    private let watch: NotificationWatch
    private let telling: AsyncStream<Void>.Continuation

    init(_ watch: NotificationWatch, _ telling: AsyncStream<Void>.Continuation) {
        self.watch = watch
        self.telling = telling
    }

    deinit { cancel() }

    func cancel() {
        watch.cancel()
        telling.finish()
    }
}

/// Whether something has ended.
final class EndMark: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }
    func set() { value.store(true, ordering: .sequentiallyConsistent) }
}

/// The state of a notification at one moment: two that are equal say that nobody posted it in between.
///
/// It says nothing else; which of two is older can't be told.
public struct GroupNotificationToken: Hashable, Sendable {
    /// What the latest post left: 16 random bytes, none where there was none yet.
    let bytes: [UInt8]

    static let size = 16
    static let none = Self(bytes: [])

    static func random() -> Self {
        var generator = SystemRandomNumberGenerator()
        return Self(bytes: (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}

extension AppGroupError.Code {
    /// A notification's name is empty or has more than 128 bytes.
    public static let invalidNotificationName = Self(rawValue: "invalidNotificationName")
}

extension AppGroupError {
    static func invalidNotificationName(_ name: String) -> Self {
        Self(
            code: .invalidNotificationName, operation: "use the notification's name",
            subject: DisplayText.identifier(name),
            reason: name.isEmpty ? "it is empty" : "it has \(name.utf8.count) bytes",
            advice: "Use a name of 1 to \(NotificationName.maximumLength) bytes, such as com.example.app.changed.")
    }

    /// What a failure on a notification's own file means.
    init(_ error: FileError, withNotification name: String) {
        self.init(
            code: .file, operation: "use the notification \(DisplayText.identifier(name))", subject: error.path,
            reason: "cannot \(error.operation)", advice: error.advice, underlying: error)
    }
}
