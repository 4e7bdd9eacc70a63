import TestSupport
import Testing

/// One case of a script file: commands, and the expected results of each.
struct Script: Sendable, CustomTestStringConvertible {
    let file: String
    let title: String
    /// The commands that run first. They must succeed.
    let preparation: [String]
    let steps: [ScriptStep]

    var testDescription: String { "\(file): \(title)" }
}

/// One command of a case.
struct ScriptStep: Sendable {
    let command: String
    var output: [String] = []
    var errors: [String] = []
    var status: Int32 = 0
    /// The code of the error object on standard error, if the script states one.
    var code: String?
}

/// An invalid line of a script.
struct ScriptFault: Error, CustomStringConvertible {
    let description: String
}

extension Script {
    /// Reads a file of cases.
    static func parse(_ text: String, file: String) throws -> [Script] {
        var cases: [(title: String, steps: [ScriptStep])] = [("", [])]
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let rest = String(line.dropFirst(2))
            if line.hasPrefix("== ") {
                cases.append((String(line.dropFirst(3)), []))
            } else if line.hasPrefix("$ ") {
                cases[cases.count - 1].steps.append(ScriptStep(command: rest))
            } else if !line.isEmpty, !line.hasPrefix("#") {
                let last = cases[cases.count - 1].steps.count - 1
                guard last >= 0, try cases[cases.count - 1].steps[last].take(line.first, rest) else {
                    throw ScriptFault(description: "\(file), line \(index + 1): \(line)")
                }
            }
        }
        let preparation = cases.removeFirst().steps.map(\.command)
        return cases.map { Script(file: file, title: $0.title, preparation: preparation, steps: $0.steps) }
    }
}

extension ScriptStep {
    fileprivate mutating func take(_ mark: Character?, _ rest: String) throws -> Bool {
        switch mark {
        case "|": output.append(rest)
        case "!": errors.append(rest)
        case "?":
            let words = rest.split(separator: " ")
            guard (1...2).contains(words.count), let number = Int32(words[0]) else { return false }
            status = number
            code = words.count == 2 ? String(words[1]) : nil
        default: return false
        }
        return true
    }
}
