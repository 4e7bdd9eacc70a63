internal import AuditReports
internal import SealedState
internal import SharedFiles
internal import StateImport

/// A move of a whole container, for people and programs.
struct PlaintextImportView {
    private let views: [MovedItemView]
    private let leftInPlaintext: Int

    init(_ report: PlaintextImportReport) {
        views = report.items.map { MovedItemView($0) }
        leftInPlaintext = report.leftInPlaintext.count
    }

    /// A line for each file and one for the totals.
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
            "sealed": "sealed", "alreadySealed": "sealed before", "gone": "missing, imported before",
            "planned": "to be sealed", "left": "left", "failed": "failed",
        ]
        let parts = Self.words.filter { count($0) > 0 }.map { "\(count($0)) \(names[$0] ?? $0)" }
        let plain = leftInPlaintext > 0 ? " (\(leftInPlaintext) in plaintext)" : ""
        return parts.isEmpty ? "nothing to move" : parts.joined(separator: ", ") + plain
    }
}

/// A file of a move, for people and programs.
struct MovedItemView {
    private let item: MovedItem

    init(_ item: MovedItem) { self.item = item }

    /// The result, such as `state.json: sealed as record state; the plaintext was removed`, and a line for each note.
    var text: String {
        let line = "\(item.source.printable): \(outcome)\(item.isSourceRemoved ? "; the plaintext was removed" : "")"
        return ([line] + item.notes.map { "  \($0)" }).joined(separator: "\n")
    }

    var json: JSONText {
        .object([
            ("source", .string(item.source)), ("outcome", .string(word)),
            ("form", .optional(item.form?.rawValue)), ("target", .optional(item.target)),
            ("sourceRemoved", .bool(item.isSourceRemoved)), ("leftInPlaintext", .bool(item.isLeftInPlaintext)),
            ("reason", .optional(reason)),
            ("code", .optional(item.error?.code.rawValue)), ("notes", .array(item.notes.map { .string($0) })),
        ])
    }

    /// A stable word, for programs.
    var word: String {
        switch item.outcome {
        case .sealed: "sealed"
        case .alreadySealed: "alreadySealed"
        case .gone: "gone"
        case .planned: "planned"
        case .left: "left"
        case .failed: "failed"
        }
    }

    private var outcome: String {
        switch item.outcome {
        case .sealed: "sealed as \(place)"
        case .alreadySealed: "was sealed before as \(place)"
        case .gone: "does not exist, but \(place) does: it may have been imported before"
        case .planned: "would be sealed as \(place)"
        case .left(let reason): "left\(item.isLeftInPlaintext ? " in plaintext" : ""). \(reason)"
        case .failed(let error): "failed. \(error.reason.printable) \(error.advice.printable)"
        }
    }

    private var place: String {
        let target = item.target?.printable ?? ""
        return switch item.form {
        case .record: "record \(target)"
        case .defaults: "defaults \(target)"
        case .file: "file \(target)"
        case nil: target
        }
    }

    private var reason: String? {
        switch item.outcome {
        case .left(let reason): reason
        case .failed(let error): error.reason
        default: nil
        }
    }
}
