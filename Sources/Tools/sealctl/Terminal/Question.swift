internal import Glibc
internal import SharedFiles

/// A question with yes or no, on the terminal, whatever the standard streams are.
struct Question {
    /// Without the answers.
    let text: String
    /// How to answer it without being asked.
    let hint: String

    /// Whether the process has a terminal to ask on.
    static var hasTerminal: Bool {
        let opened = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        if opened >= 0 { close(opened) }
        return opened >= 0
    }

    /// Whether the answer was yes; anything else is no.
    ///
    /// - Throws: `Failure` `inputNeeded` with `--no-input`, `noTerminal` where there is none.
    func ask() throws(Failure) -> Bool {
        try Interaction.require(for: "a yes or no", hint: hint)
        let opened = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard opened >= 0 else {
            throw Failure(.unavailable, "noTerminal", "there is no terminal to ask on", hint: hint)
        }
        defer { close(opened) }
        let prompt = Array("\(text.printable) [y/N] ".utf8)
        _ = prompt.withUnsafeBytes { write(opened, $0.baseAddress, $0.count) }
        var answer = [UInt8](repeating: 0, count: 64)
        let count = read(opened, &answer, answer.count)
        let word = String(decoding: answer[..<max(0, count)].prefix { $0 != 0x0A }, as: UTF8.self)
        return ["y", "yes"].contains(word.lowercased())
    }
}
