internal import Glibc
internal import SharedFiles

/// Asks on the terminal whether to go on editing; used while signals are held back.
enum EditPrompt {
    /// - Parameter problem: What is wrong with what was saved.
    /// - Returns: False also where there is nobody to ask.
    static func again(_ problem: String) -> Bool {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        defer { close(terminal) }
        let text = Array("sealctl: \(problem.printable). Edit again? [Y/n] ".utf8)
        _ = text.withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
        guard Interruption.awaitInput(terminal) else { return false }
        var answer = [UInt8](repeating: 0, count: 64)
        let count = read(terminal, &answer, answer.count)
        // The end of the input is no consent.
        guard count > 0 else { return false }
        let word = String(decoding: answer[..<count].prefix { $0 != 0x0A }, as: UTF8.self).lowercased()
        return ["", "y", "yes"].contains(word)
    }
}
