internal import Glibc

/// The time of day as part of a file name.
enum UTCStamp {
    /// UTC to the second in the basic form of ISO 8601, such as `20261121T070342Z`.
    static func now() -> String { text(seconds: Int(WallClock.milliseconds() / 1000)) }

    static func text(seconds: Int) -> String {
        var seconds = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "\(seconds)" }
        func digits(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let date = "\(parts.tm_year + 1900)\(digits(parts.tm_mon + 1))\(digits(parts.tm_mday))"
        return "\(date)T\(digits(parts.tm_hour))\(digits(parts.tm_min))\(digits(parts.tm_sec))Z"
    }
}
