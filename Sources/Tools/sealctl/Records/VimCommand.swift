internal import Glibc

/// A detector of vim, under its many names, in a person's command. Without options vim writes what it shows to files of
/// its own: a history and a swap file.
enum VimCommand {
    /// The options that disable the swap file and the history.
    private static let options = " -n -i NONE"
    /// The words that may precede a program in a command.
    private static let starters: Set<String> = ["env", "exec", "command", "nice", "nohup"]
    private static let names: Set<String> = ["gvim", "mvim", "rvim", "evim", "gview", "rview", "rgvim"]
    /// Names of vim on some systems and of another program on others. The link target of such a name decides.
    private static let ambiguous: Set<String> = ["vi", "view", "ex"]

    /// Returns the command, with options after the program if it is vim.
    static func discreet(_ command: String) -> String {
        var end = command.startIndex
        while let word = nextWord(of: command, from: &end) {
            if isAssignment(word) || starters.contains(word) { continue }
            return isVim(word) ? String(command[..<end]) + options + String(command[end...]) : command
        }
        return command
    }

    /// Returns a word without its quotes and sets `end` to the position after it. Returns `nil` if the shell would
    /// interpret the word.
    private static func nextWord(of command: String, from end: inout String.Index) -> String? {
        var rest = command[end...].drop { $0 == " " || $0 == "\t" }
        var word = ""
        var quote: Character?
        while let next = rest.first, quote != nil || (next != " " && next != "\t") {
            rest = rest.dropFirst()
            if next == quote {
                quote = nil
            } else if quote == nil, next == "'" || next == "\"" {
                quote = next
            } else if quote == nil, ";&|()<>`\n".contains(next) {
                return nil
            } else if next == "\\", quote != "'", let escaped = rest.first {
                word.append(escaped)
                rest = rest.dropFirst()
            } else {
                word.append(next)
            }
        }
        end = rest.startIndex
        return word.isEmpty ? nil : word
    }

    private static func isAssignment(_ word: String) -> Bool {
        guard let sign = word.firstIndex(of: "="), let first = word.first, !first.isNumber else { return false }
        return word[..<sign].allSatisfy { $0 == "_" || ($0.isASCII && ($0.isLetter || $0.isNumber)) } && first != "="
    }

    private static func isVim(_ program: String) -> Bool {
        let name = leaf(program)
        if isVimName(name) { return true }
        guard let found = resolved(program).map(leaf) else { return ambiguous.contains(name) }
        return isVimName(found) || ambiguous.contains(found)
    }

    private static func isVimName(_ name: String) -> Bool {
        name.hasPrefix("vim") || name.hasPrefix("nvim") || names.contains(name)
    }

    private static func leaf(_ path: String) -> String { path.split(separator: "/").last.map { String($0) } ?? path }

    /// Returns the file that a program's name finally resolves to.
    private static func resolved(_ program: String) -> String? {
        let directories = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        let paths =
            program.contains("/")
            ? [program] : directories.split(separator: ":").map { "\($0)/\(program)" }
        guard let path = paths.first(where: { access($0, X_OK) == 0 }), let found = realpath(path, nil) else {
            return nil
        }
        defer { free(found) }
        return String(cString: found)
    }
}
