/// How many columns text takes on a terminal: two for ideographs, syllables of Hangul, kana, full-width forms and emoji,
/// one for other characters, whatever they are composed of (Unicode Standard Annex 11, wide and full-width).
enum DisplayWidth {
    static func of(_ text: String) -> Int {
        // Nearly all names.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + width($1) }
    }

    private static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        let isEmoji = first.properties.isEmojiPresentation || character.unicodeScalars.contains { $0.value == 0xFE0F }
        return isEmoji || wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x20000...0x3FFFD,
    ]
}
