internal import FoundationEssentials
internal import Glibc

/// The terminal output: steps, lines of the programs with their times, and checks.
final class Timeline {
    /// `" 12.3 s  "` and the sources' column with its gap.
    private static let timeWidth = 9
    private static let margin = timeWidth + LineSource.width + 2

    private let palette = Palette()
    private let page = Page()
    private let start = ContinuousClock.now
    private var steps = 0

    /// Seconds since the start, to a tenth.
    var elapsed: String { Self.tenths(start.duration(to: .now)) }

    func title(_ text: String) { put(palette.paint(text, .heading)) }

    func step(_ title: String) {
        steps += 1
        let number = String(steps)
        put("")
        put(palette.paint("\(String(repeating: " ", count: max(0, 3 - number.count)))\(number)  \(title)", .heading))
    }

    func printLine(_ outputLine: OutputLine) {
        let name = outputLine.source.rawValue
        let time = "\(elapsed) s  "
        let gap = String(repeating: " ", count: max(0, Self.timeWidth - time.count))
        let column = name + String(repeating: " ", count: LineSource.width + 2 - name.count)
        let (text, tone) = Wording.of(outputLine)
        let lines = page.wrap(text, margin: Self.margin).map { palette.paint($0, tone) }
        put(gap + palette.paint(time, .faint) + palette.paint(column, palette.tone(of: outputLine.source)) + lines[0])
        for line in lines.dropFirst() { put(String(repeating: " ", count: Self.margin) + line) }
    }

    /// Prints a remark without a source.
    func note(_ text: String) {
        for line in page.wrap(text, margin: Self.timeWidth) {
            put(String(repeating: " ", count: Self.timeWidth) + palette.paint(line, .faint))
        }
    }

    func mark(_ check: Check) {
        let mark = palette.paint(check.passed ? "✓" : "✗", check.passed ? .good : .bad)
        let lines = page.wrap(check.sentence, margin: Self.timeWidth)
        put(String(repeating: " ", count: Self.timeWidth - 2) + mark + " " + lines[0])
        for line in lines.dropFirst() { put(String(repeating: " ", count: Self.timeWidth) + line) }
    }

    func command(_ words: [String]) { put("\n" + palette.paint("$ " + words.joined(separator: " "), .heading)) }

    func summary(_ checks: [Check]) {
        let failed = checks.filter { !$0.passed }
        put("")
        if failed.isEmpty {
            put(palette.paint("✓ All \(checks.count) checks passed in \(elapsed) s.", .good))
            return
        }
        put(palette.paint("✗ \(failed.count) of \(checks.count) checks failed:", .bad))
        for check in failed { put("  ✗ \(check.sentence)") }
    }

    private func put(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func tenths(_ duration: Duration) -> String {
        let tenths = duration.components.seconds * 10 + duration.components.attoseconds / 100_000_000_000_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// Colours, on a terminal that supports them (no-color.org).
struct Palette {
    enum Tone: String {
        case plain = "0"
        case heading = "1"
        case faint = "2"
        case good = "32"
        case bad = "1;31"
        case app = "36"
        case widget = "35"
        case intruder = "31"
        case audit = "33"
    }

    private let isColoured: Bool

    init() {
        let environment = ProcessInfo.processInfo.environment
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        isColoured = isatty(STDOUT_FILENO) == 1 && !isRefused && environment["TERM"] != "dumb"
    }

    func paint(_ text: String, _ tone: Tone) -> String {
        isColoured && tone != .plain ? "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m" : text
    }

    func tone(of source: LineSource) -> Tone {
        switch source {
        case .app, .share, .helper: .app
        case .widget: .widget
        case .intruder: .intruder
        case .audit: .audit
        }
    }
}

/// The width of the output, and the wrapping of text.
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

    /// Returns lines of at most the page's width after a margin; a longer word gets a line of its own.
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
