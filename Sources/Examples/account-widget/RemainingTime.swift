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
        let step =
            switch left {
            case ...5: 1
            case ...60: 10
            case ...Self.hour: 60
            case ...(2 * Self.day): Self.hour
            default: Self.day
            }
        self.seconds = (left + step - 1) / step * step
    }

    /// `0:04`, `12:00`, `5 h`, `12 days`.
    var description: String {
        if seconds > 2 * Self.day { return "\(seconds / Self.day) days" }
        if seconds > Self.hour { return "\(seconds / Self.hour) h" }
        let rest = seconds % 60
        return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
    }
}
