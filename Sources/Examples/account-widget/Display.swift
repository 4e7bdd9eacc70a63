internal import AccountShared
internal import FoundationEssentials
internal import SealedState

/// What the person sees: the face of the last update, and the time that is left of it.
actor Display {
    private var shown: Face?
    private var countdown: Task<Void, Never>?

    /// Shows what the record has come to.
    func show(_ update: RecordUpdate<WidgetAuthState>) {
        countdown?.cancel()
        countdown = Task { [weak self] in
            // The end itself is not counted down to: the store tells it.
            while !Task.isCancelled, let pause = await self?.draw(update) {
                try? await Task.sleep(for: .seconds(pause))
            }
        }
    }

    /// Draws what is to be seen now; in how many seconds that will be something else, if it will.
    private func draw(_ update: RecordUpdate<WidgetAuthState>) -> Double? {
        // A newer update may have come while this one was on its way here.
        if Task.isCancelled { return nil }
        let face = Face(update, at: Date())
        if face != shown {
            say("\(face)")
            shown = face
        }
        guard let expiry = update.value?.tokenExpiresAt, case .signedIn(_, let remaining) = face else { return nil }
        return remaining.pause(left: expiry.timeIntervalSince(Date()))
    }
}

/// A time that is left, in steps: a display need not change more often than a person looks.
///
/// The last five seconds count singly, the last minute in tens, the last hour in minutes. It is rounded up, so that it
/// is never shown as nothing while there is some.
struct RemainingTime: Hashable, CustomStringConvertible {
    private static let hour = 3600
    private static let day = 86_400

    private let seconds: Int

    init(seconds: Double) {
        let left = max(1, Int(min(seconds, 1e12).rounded(.up)))
        let step = Self.step(left)
        self.seconds = (left + step - 1) / step * step
    }

    private static func step(_ left: Int) -> Int {
        switch left {
        case ...5: 1
        case ...60: 10
        case ...hour: 60
        case ...(2 * day): hour
        default: day
        }
    }

    /// After how many seconds another time is to be shown; nil at the end.
    ///
    /// - Parameter left: How many seconds there are now.
    func pause(left: Double) -> Double? {
        // Where the steps become smaller the shown time changes as well, be it in the middle of a step.
        let changes = [seconds - Self.step(seconds), 5, 60, Self.hour, 2 * Self.day].filter { $0 < seconds }
        let change = changes.max()
        guard let change, change > 0 else { return nil }
        return max(0.001, left - Double(change))
    }

    /// `0:04`, `12:00`, `5 h`, `12 days`.
    var description: String {
        if seconds > 2 * Self.day { return "\(seconds / Self.day) days" }
        if seconds > Self.hour { return "\(seconds / Self.hour) h" }
        let rest = seconds % 60
        return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
    }
}
