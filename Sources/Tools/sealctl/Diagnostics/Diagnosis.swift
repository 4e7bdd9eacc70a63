internal import SharedFiles

/// One line of what `doctor` found.
struct Diagnosis {
    enum State: String {
        /// As it should be.
        case ok
        /// Works, with less than there could be.
        case warn
        /// Something does not work.
        case fail
    }

    /// Stable, for programs.
    let id: String
    let state: State
    /// What was found, without an end mark.
    let detail: String
    /// What to do; empty where all is well.
    let mend: String

    static func ok(_ id: String, _ detail: String) -> Diagnosis {
        Diagnosis(id: id, state: .ok, detail: detail, mend: "")
    }

    static func warn(_ id: String, _ detail: String, mend: String) -> Diagnosis {
        Diagnosis(id: id, state: .warn, detail: detail, mend: mend)
    }

    static func fail(_ id: String, _ detail: String, mend: String) -> Diagnosis {
        Diagnosis(id: id, state: .fail, detail: detail, mend: mend)
    }

    /// What a failure of any other command says, as a line.
    static func fail(_ id: String, _ failure: Failure) -> Diagnosis {
        .fail(id, failure.message, mend: failure.hint)
    }

    var json: JSONText {
        .object([
            ("check", .string(id)), ("state", .string(state.rawValue)), ("detail", .string(detail)),
            ("mend", .string(mend)),
        ])
    }
}

/// All that was found.
struct DiagnosisReport {
    let lines: [Diagnosis]

    /// Whether everything works, warnings or not.
    var isSound: Bool { !lines.contains { $0.state == .fail } }

    /// A line each, and what to do below those that need it.
    var text: String {
        let width = lines.map(\.id.count).max() ?? 0
        return lines.map { line in
            let state = line.state.rawValue + String(repeating: " ", count: 4 - line.state.rawValue.count)
            let name = line.id + String(repeating: " ", count: width - line.id.count)
            let head = "\(painted(state, line.state))  \(name)  \(line.detail.printable)"
            let indent = String(repeating: " ", count: width + 8)
            return line.mend.isEmpty ? head : "\(head)\n\(indent)\(line.mend.printable)"
        }.joined(separator: "\n")
    }

    private func painted(_ text: String, _ state: Diagnosis.State) -> String {
        guard Appearance.outputUsesColor else { return text }
        let color =
            switch state {
            case .ok: "32"
            case .warn: "33"
            case .fail: "31"
            }
        return "\u{1B}[\(color)m\(text)\u{1B}[0m"
    }

    var json: JSONText {
        .object([("isSound", .bool(isSound)), ("checks", .array(lines.map(\.json)))])
    }
}
