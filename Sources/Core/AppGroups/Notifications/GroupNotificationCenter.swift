public import SharedFiles
internal import Synchronization

/// Named notifications without content, between all programs of an app group, in the manner of Darwin notifications.
///
/// Every user of the group's container may post and observe, under any unix user. A notification has no content: read
/// the shared state after it.
///
/// Guarantees:
/// - After a post an observer that was registered before it is notified at least once, also of its own process's posts.
/// - Posts that arrive before an observer has been notified of the previous one, or while it handles that, become one.
/// - Posts before the registration are not delivered. ``token(of:)`` shows them.
/// - An observer may rarely be notified without a post, but never after it was cancelled.
/// - The container may be removed and created again, and need not exist when observing begins.
///
/// Names have 1 to 128 bytes of UTF-8, any characters, and are compared by their bytes. A notification costs one small
/// file in the container, which stays. `docs/guides/watching-and-settings.md` compares this with Apple's notifications.
public final class GroupNotificationCenter: Sendable {
    /// The group whose programs share the notifications.
    public let group: AppGroup

    private let board: NotificationBoard

    /// Creates the center of an app group.
    ///
    /// - Parameters:
    ///   - home: The home of the containers.
    ///   - creating: Whether to create a missing container. With `false` nothing is checked yet: observers wait for the
    ///     container, and a post fails until it exists.
    ///   - sharing: The users of a container that this call creates.
    ///   - entitlements: The entitlements that have to contain the group; this program's unless stated.
    /// - Throws: ``AppGroupError`` with `notEntitled` for a group that the entitlements do not contain; the errors of
    ///   `GroupContainer.open`, if `creating`.
    public init(
        group: AppGroup, in home: GroupsHome, creating: Bool = true, sharing: Sharing = .ownerOnly,
        entitlements: EntitlementPolicy = .program
    ) throws(AppGroupError) {
        try entitlements.require(group)
        self.group = group
        board = NotificationBoard(group: group, home: home)
        if creating { _ = try GroupContainer.open(group, in: home, sharing: sharing, entitlements: .unchecked) }
    }

    /// Creates the center of an open container's group. A container that replaces it is used as well.
    public init(_ container: GroupContainer) {
        group = container.group
        board = NotificationBoard(group: container.group, home: container.home)
    }
}

extension GroupNotificationCenter {
    /// Posts a notification. The call needs no observer, and does not wait for one.
    ///
    /// - Throws: ``AppGroupError`` with `invalidNotificationName`; `containerMissing`; `unsafeContainer` or `notShared`
    ///   as `GroupContainer.open`; `file` for another kind of file under the notification's name (a link, a FIFO, a
    ///   device, another file), which stays unchanged, and for a failed system call.
    public func post(_ name: String) throws(AppGroupError) {
        try board.post(NotificationName(name))
    }

    /// Returns the notification's current state: it differs from an earlier one if, and only if, there was a post in
    /// between.
    ///
    /// For programs that poll instead of observing. If the container or the notification does not exist, the result is
    /// the state before the first post.
    public func token(of name: String) throws(AppGroupError) -> GroupNotificationToken {
        try board.token(NotificationName(name))
    }

    /// Calls a handler after posts, until the observation is cancelled or released.
    ///
    /// - Parameter handler: Runs in a task of its own, one call at a time.
    /// - Throws: ``AppGroupError`` with `invalidNotificationName`; `unsafeContainer`, `notShared` or `file` if the
    ///   container or the notification's file exists and can't be used; `file` with the underlying `watchLimit` if the
    ///   user's inotify limits are exhausted.
    public func observe(
        _ name: String, _ handler: @escaping @Sendable () async -> Void
    ) throws(AppGroupError) -> GroupNotificationObservation {
        let isEnded = EndMark()
        let registration = try register(NotificationName(name)) {
            if !isEnded.isSet { await handler() }
        }
        return GroupNotificationObservation(registration, isEnded)
    }

    /// Returns the notification's future posts as a sequence, which holds at most one for a slow consumer.
    ///
    /// The observer is registered when this returns. The sequence ends when its task is cancelled or it is released.
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
        let (events, notifier) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch = NotificationWatch(board, name) { notifier.yield() }
        do throws(FileError) { try watch.begin() } catch { throw AppGroupError(error, withNotification: name.string) }
        // After the watch: a post between the two must have its event.
        try observer.begin()
        // The monitor's thread only signals events; files are read here.
        Task.detached {
            for await _ in events {
                // Before the check, which then finds posts in another container from before it was watched.
                watch.follow()
                if observer.look() { await deliver() }
            }
        }
        return NotificationRegistration(watch, notifier)
    }
}

/// An observer's registration with a notification center; it ends with this object.
public final class GroupNotificationObservation: Sendable {
    private let registration: NotificationRegistration
    private let isEnded: EndMark

    init(_ registration: NotificationRegistration, _ isEnded: EndMark) {
        self.registration = registration
        self.isEnded = isEnded
    }

    deinit { cancel() }

    /// Cancels the observation. No call of the handler begins after this has returned; one that has begun may still be
    /// running.
    public func cancel() {
        isEnded.set()
        registration.cancel()
    }
}

/// A watch of a notification's file, and the task that checks the file after each event; both end with this object.
final class NotificationRegistration: Sendable {
    private let watch: NotificationWatch
    private let notifier: AsyncStream<Void>.Continuation

    init(_ watch: NotificationWatch, _ notifier: AsyncStream<Void>.Continuation) {
        self.watch = watch
        self.notifier = notifier
    }

    deinit { cancel() }

    func cancel() {
        watch.cancel()
        notifier.finish()
    }
}

/// A flag that is set at the end of an observation.
final class EndMark: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }
    func set() { value.store(true, ordering: .sequentiallyConsistent) }
}

/// The state of a notification at one moment: two equal states mean that there was no post in between.
///
/// States have no order.
public struct GroupNotificationToken: Hashable, Sendable {
    /// The bytes of the latest post: 16 random bytes, or none before the first post.
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

    /// Creates an error for a failure on a notification's own file.
    init(_ error: FileError, withNotification name: String) {
        self.init(
            code: .file, operation: "use the notification \(DisplayText.identifier(name))", subject: error.path,
            reason: "cannot \(error.operation)", advice: error.advice, underlying: error)
    }
}
