/// Where in a file's structure a reader is: a stack that becomes text only for what is reported.
///
/// Written like `accounts[2].token`, `table users, row 12, email`, and `state > base64 > plist: user.token` where one carrier
/// lies in another. Names come from the file: each is cut when it is entered, so that neither memory nor reports grow with it.
/// What could drive a terminal is for the printer to escape.
package final class LeafTrail {
    /// One step down.
    package enum Step: Hashable, Sendable {
        /// Below a key.
        case key(String)
        /// An element of an array, from 0.
        case index(Int)
        /// Into what a value holds in another form: `base64`, `gzip`, `plist`.
        case form(String)
        /// Words of the carrier's own, such as `table users, row 12`; a comma parts them from what follows.
        case words(String)

        /// With its text cut after `LeafTrail.longestStep` bytes.
        package var cut: Step {
            switch self {
            case .key(let name): .key(LeafTrail.cut(name))
            case .words(let words): .words(LeafTrail.cut(words))
            case .index, .form: self
            }
        }
    }

    /// A step's text is cut after so many bytes of UTF-8, and ends with an ellipsis then.
    package static let longestStep = 96
    /// Of a way that is longer in bytes its beginning and its end are shown, each half of this.
    package static let longestText = 512
    /// Shorter names are not asked about by `text(replacing:)`: no secret is so short.
    package static let shortestReplaced = 20

    /// What stands for a name that may itself be a secret, wherever the way becomes text; nil for a name that may be shown.
    package var replacement: (String) -> String? = { _ in nil }

    private var steps: [Step] = []

    package init() {}

    /// How many steps down.
    package var depth: Int { steps.count }
    /// Goes a step down.
    package func enter(_ step: Step) { steps.append(step.cut) }
    /// Goes a step up.
    package func leave() { steps.removeLast() }
    /// Goes up to an earlier depth: what a reader does that stopped in the middle.
    package func leave(to depth: Int) { steps.removeLast(max(0, steps.count - depth)) }

    /// The whole way, with `replacement`; empty at the top.
    package var text: String { text(replacing: replacement) }

    /// The whole way with other names in the place of some.
    ///
    /// - Parameter replacement: Is asked for each key, and each word of the carrier's own words, of `shortestReplaced` bytes or
    ///   more, as far as the way has it; answers nil where it stays.
    package func text(replacing replacement: (String) -> String?) -> String {
        var text = ""
        var last: Step?
        for step in steps {
            text += Self.joint(from: last, to: step) + Self.spelling(step, replacement)
            last = step
        }
        return Self.shortened(text)
    }

    private static func spelling(_ step: Step, _ replacement: (String) -> String?) -> String {
        switch step {
        case .key(let name): shown(name, replacement)
        case .index(let index): "[\(index)]"
        case .form(let name): name
        case .words(let words) where words.utf8.count < shortestReplaced: words
        case .words(let words):
            words.split(separator: " ", omittingEmptySubsequences: false).map { shown(String($0), replacement) }
                .joined(separator: " ")
        }
    }

    private static func shown(_ name: String, _ replacement: (String) -> String?) -> String {
        name.utf8.count < shortestReplaced ? name : replacement(name) ?? name
    }

    private static func joint(from last: Step?, to step: Step) -> String {
        guard let last else { return "" }
        switch (last, step) {
        case (_, .form): return " > "
        case (.form, _): return ": "
        case (.words, _), (_, .words): return ", "
        case (_, .index): return ""
        case (_, .key): return "."
        }
    }

    // MARK: Cutting

    /// A name as a step has it.
    private static func cut(_ name: String) -> String {
        name.utf8.count > longestStep ? head(name, longestStep) + "…" : name
    }

    /// The beginning and the end of a way: the innermost carrier and the key are what a person looks for.
    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        return head(text, longestText / 2) + "…" + tail(text, longestText / 2)
    }

    /// At most so many bytes of the beginning, ending with a whole scalar.
    private static func head(_ text: String, _ bytes: Int) -> String {
        // The view of scalars takes a place inside of one for its beginning.
        String(text.unicodeScalars[..<text.utf8.index(text.startIndex, offsetBy: bytes)])
    }

    /// So many bytes of the end, or up to three more, beginning with a whole scalar.
    private static func tail(_ text: String, _ bytes: Int) -> String {
        String(text.unicodeScalars[text.utf8.index(text.endIndex, offsetBy: -bytes)...])
    }
}
