internal import Glibc

/// The width of what is printed, and how text is broken to fit it.
struct Page {
    /// Longer lines are hard to read, and shorter ones cannot hold the columns.
    private static let widths = 60...100
    private static let usualWidth = 80

    let width: Int

    init() {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        let columns = isKnown ? Int(size.ws_col) : Self.usualWidth
        width = min(max(columns, Self.widths.lowerBound), Self.widths.upperBound)
    }

    /// Lines of at most the page's width behind a margin; a longer word stands alone.
    func wrap(_ text: String, margin: Int) -> [String] {
        let room = width - margin
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if line.isEmpty {
                line = String(word)
            } else if line.count + 1 + word.count <= room {
                line += " \(word)"
            } else {
                lines.append(line)
                line = String(word)
            }
        }
        return lines + [line]
    }
}
