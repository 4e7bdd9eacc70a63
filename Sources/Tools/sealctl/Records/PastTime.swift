internal import ArgumentParser
internal import FoundationEssentials

/// A moment that has been: a length of time before now, a day, or a time as RFC 3339 has it.
struct PastTime: ExpressibleByArgument, Sendable {
    let timestamp: Timestamp

    init?(argument: String) {
        if let distance = Lifetime(argument: argument) {
            let now = Timestamp.now.milliseconds
            timestamp = Timestamp(now - min(now, distance.seconds * 1000))
            return
        }
        let text = argument.utf8.count == 10 ? argument + "T00:00:00Z" : argument
        guard let date = try? Date(text, strategy: .iso8601) else { return nil }
        timestamp = Timestamp(date)
    }
}
