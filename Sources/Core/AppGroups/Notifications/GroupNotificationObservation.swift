internal import Synchronization

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
