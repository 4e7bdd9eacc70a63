/// A reader's position in a file's structure: a stack that becomes text only for reports.
///
/// The text has the form `accounts[2].token`, `table users, row 12, email`, or `state > base64 > plist: user.token` for
/// a carrier inside another. Names come from the file, so each is cut when it is entered and neither memory nor reports
/// grow with it. Printers must escape terminal control characters.
package final class ValuePath {
    /// A step down.
    package enum Step: Hashable, Sendable {
        /// The value of a key.
        case key(String)
        /// An element of an array, from 0.
        case index(Int)
        /// The content of a value in another form: `base64`, `gzip`, `plist`.
        case form(String)
        /// Words of the carrier, such as `table users, row 12`, separated from the next step by a comma.
        case words(String)

        /// The step with its text cut after `ValuePath.longestStep` bytes.
        package var cut: Step {
            switch self {
            case .key(let name): .key(ValuePath.cut(name))
            case .words(let words): .words(ValuePath.cut(words))
            case .index, .form: self
            }
        }
    }

    /// The limit on a step's text in bytes of UTF-8. Longer text is cut and ends with an ellipsis.
    package static let longestStep = 96
    /// The limit on the trail's text in bytes. Longer text is reduced to its beginning and its end, each half of this.
    package static let longestText = 512
    /// The length of the shortest name that is passed to `text(replacing:)`. Shorter names cannot be secrets.
    package static let shortestReplaced = 20

    /// Returns the replacement for a name that may be a secret, or `nil` for a name that may be shown. Applied whenever
    /// the trail becomes text.
    package var replacement: (String) -> String? = { _ in nil }

    private var steps: [Step] = []

    package init() {}

    /// The number of steps.
    package var depth: Int { steps.count }
    /// Enters a step.
    package func enter(_ step: Step) { steps.append(step.cut) }
    /// Leaves the last step.
    package func leave() { steps.removeLast() }
    /// Returns to an earlier depth, for a reader that stopped in the middle.
    package func leave(to depth: Int) { steps.removeLast(max(0, steps.count - depth)) }

    /// The whole trail, with `replacement` applied; empty at the top.
    package var text: String { text(replacing: replacement) }

    /// Returns the whole trail with some names replaced.
    ///
    /// - Parameter replacement: Called for each key, and for each word of a carrier's words, of `shortestReplaced`
    ///   bytes or more in the trail. Returns `nil` to keep the name.
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

    /// Returns a name as a step stores it.
    private static func cut(_ name: String) -> String {
        name.utf8.count > longestStep ? head(name, longestStep) + "…" : name
    }

    /// Returns the beginning and the end of a trail, because readers look for the innermost carrier and the key.
    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        return head(text, longestText / 2) + "…" + tail(text, longestText / 2)
    }

    /// Returns at most `bytes` bytes of the beginning, ending with a whole scalar.
    private static func head(_ text: String, _ bytes: Int) -> String {
        // The scalar view rounds an index inside a scalar down to its beginning.
        String(text.unicodeScalars[..<text.utf8.index(text.startIndex, offsetBy: bytes)])
    }

    /// Returns `bytes` bytes of the end, or up to three more, beginning with a whole scalar.
    private static func tail(_ text: String, _ bytes: Int) -> String {
        String(text.unicodeScalars[text.utf8.index(text.endIndex, offsetBy: -bytes)...])
    }
}
