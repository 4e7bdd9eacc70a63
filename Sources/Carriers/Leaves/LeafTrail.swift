/// Where in a file's structure a reader is: a stack that becomes text only for what is reported.
///
/// Written like `accounts[2].token`, `table users, row 12, email`, and `state > base64 > plist: user.token` where one carrier
/// lies in another. A name is cut after 64 characters; what could drive a terminal is for the printer to escape.
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
    }

    private var steps: [Step] = []

    package init() {}

    /// How many steps down.
    package var depth: Int { steps.count }
    /// Goes a step down.
    package func enter(_ step: Step) { steps.append(step) }
    /// Goes a step up.
    package func leave() { steps.removeLast() }
    /// Goes up to an earlier depth: what a reader does that stopped in the middle.
    package func leave(to depth: Int) { steps.removeLast(max(0, steps.count - depth)) }

    /// The whole way; empty at the top.
    package var text: String {
        var text = ""
        var last: Step?
        for step in steps {
            text += Self.joint(from: last, to: step) + Self.spelling(step)
            last = step
        }
        return text
    }

    private static let longestName = 64

    private static func spelling(_ step: Step) -> String {
        switch step {
        case .key(let name): name.count > longestName ? name.prefix(longestName) + "…" : name
        case .index(let index): "[\(index)]"
        case .form(let name): name
        case .words(let words): words
        }
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
}
