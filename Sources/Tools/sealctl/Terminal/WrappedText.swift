/// Text in lines of a width, for people.
enum WrappedText {
    /// What a terminal has at least.
    static let columns = 80

    /// Breaks between words only: a path or command stays one piece and can be copied.
    static func lines(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > columns {
                lines.append(margin + line)
                line = String(word)
            } else {
                line += (line.isEmpty ? "" : " ") + word
            }
        }
        return line.isEmpty ? lines : lines + [margin + line]
    }
}
