internal import FoundationEssentials
internal import Glibc

/// Colours, on a terminal that wants them (no-color.org).
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

    func tone(of speaker: Speaker) -> Tone {
        switch speaker {
        case .app: .app
        case .widget: .widget
        case .intruder: .intruder
        case .audit: .audit
        }
    }
}
