internal import Glibc

/// When a file was changed: before 1970 as well, and beyond what 64 bits of nanoseconds can say.
struct FileTime: Sendable, Equatable {
    /// Since 1970; negative before.
    let seconds: Int64
    /// Behind that second.
    let nanoseconds: Int

    init(_ time: timespec) {
        seconds = Int64(time.tv_sec)
        nanoseconds = time.tv_nsec
    }

    static var now: FileTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileTime(time)
    }

    var systemTime: timespec { timespec(tv_sec: Int(seconds), tv_nsec: nanoseconds) }

    /// `2026-11-21T03:30:00.000Z` (RFC 3339), which has the years 0 to 9999; beyond them the seconds.
    var rfc3339: String {
        guard (-62_167_219_200..<253_402_300_800).contains(seconds) else { return "\(seconds) s" }
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        let date = [
            Self.padded(parts.tm_year + 1900, 4), Self.padded(parts.tm_mon + 1, 2), Self.padded(parts.tm_mday, 2),
        ]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Self.padded($0, 2) }
        let fraction = Self.padded(Int32(nanoseconds / 1_000_000), 3)
        return "\(date.joined(separator: "-"))T\(clock.joined(separator: ":")).\(fraction)Z"
    }

    private static func padded(_ number: Int32, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
