internal import SealedState

/// A move of a whole container, for people and programs.
struct MovingInView {
    private let views: [MovedItemView]
    private let leftInPlaintext: Int

    init(_ report: MovingInReport) {
        views = report.items.map { MovedItemView($0) }
        leftInPlaintext = report.leftInPlaintext.count
    }

    /// A line for each file and one for the sum.
    var text: String { (views.map(\.text) + [sum]).joined(separator: "\n") }

    var json: String {
        JSONText.object([("counts", counts), ("items", .array(views.map(\.json)))]).text
    }

    private static let words = ["sealed", "alreadySealed", "gone", "planned", "left", "failed"]

    private func count(_ word: String) -> Int { views.count { $0.word == word } }

    private var counts: JSONText {
        .object(
            Self.words.map { ($0, .number(count($0))) } + [("leftInPlaintext", .number(leftInPlaintext))])
    }

    private var sum: String {
        let names = [
            "sealed": "sealed", "alreadySealed": "sealed before", "gone": "not there, moved before",
            "planned": "to be sealed", "left": "left", "failed": "failed",
        ]
        let parts = Self.words.filter { count($0) > 0 }.map { "\(count($0)) \(names[$0] ?? $0)" }
        let plain = leftInPlaintext > 0 ? " (\(leftInPlaintext) in plaintext)" : ""
        return parts.isEmpty ? "nothing to move" : parts.joined(separator: ", ") + plain
    }
}
