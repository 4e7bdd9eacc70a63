internal import Glibc

/// The time of day as a name may hold it.
enum UTCTime {
    /// `20261121T130405Z`.
    static var compact: String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        let date = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
        return "\(date)T\(digits(parts.tm_hour, 2))\(digits(parts.tm_min, 2))\(digits(parts.tm_sec, 2))Z"
    }

    private static func digits(_ number: Int32, _ count: Int) -> String {
        let text = String(max(0, number))
        return String(repeating: "0", count: max(0, count - text.count)) + text.suffix(count)
    }
}
