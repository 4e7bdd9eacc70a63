import TestSupport
import Testing

@testable import SecretDetection

/// A secret of one rule, written as a form: `{an36}` is a placeholder for 36 letters and digits that are drawn when the
/// test runs.
///
/// These sources contain no token, because hosts of source code refuse texts that look like one.
struct SecretSample: Sendable, CustomTestStringConvertible {
    let rule: String
    let form: String
    /// A text that resembles a secret and is not; by default the form with one letter in place of all drawn ones.
    let lookAlike: String?

    init(_ rule: String, _ form: String, not lookAlike: String? = nil) {
        self.rule = rule
        self.form = form
        self.lookAlike = lookAlike
    }

    var testDescription: String { "\(rule) \(form.prefix(24))" }

    func drawn(seed: UInt64) -> String {
        var generator = SeededGenerator(seed: seed)
        return Self.filled(form) { (members: [Character]) in members.randomElement(using: &generator) ?? "?" }
    }

    func harmless(seed: UInt64) -> String {
        var generator = SeededGenerator(seed: seed)
        guard let lookAlike else { return Self.filled(form) { $0[0] } }
        return Self.filled(lookAlike) { (members: [Character]) in members.randomElement(using: &generator) ?? "?" }
    }

    private static let lower = Array("abcdefghijklmnopqrstuvwxyz")
    private static let upper = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    private static let digits = Array("0123456789")

    private static let classes: [String: [Character]] = [
        "an": digits + upper + lower, "lan": digits + lower, "uan": digits + upper, "hex": digits + lower[..<6],
        "dig": digits, "low": lower,
        "let": upper + lower, "url": digits + upper + lower + ["-", "_"], "std": digits + upper + lower + ["+", "/"],
        "b32": upper + digits[2..<8], "bech": Array("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    ]

    private static func filled(_ form: String, _ draw: ([Character]) -> Character) -> String {
        var text = ""
        for (index, part) in form.split(separator: "{", omittingEmptySubsequences: false).enumerated() {
            guard index > 0, let close = part.firstIndex(of: "}"),
                let members = classes[className(part[..<close])],
                let count = Int(part[..<close].dropFirst(className(part[..<close]).count))
            else {
                text += (index > 0 ? "{" : "") + part
                continue
            }
            for _ in 0..<count { text.append(draw(members)) }
            text += part[part.index(after: close)...]
        }
        return text
    }

    /// Returns the longest class that a placeholder begins with.
    private static func className(_ placeholder: Substring) -> String {
        classes.keys.filter(placeholder.hasPrefix).max { $0.count < $1.count } ?? ""
    }
}
