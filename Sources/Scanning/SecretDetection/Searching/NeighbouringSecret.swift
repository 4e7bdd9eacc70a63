/// The secret of an AWS access key, where it stands behind the key without a name: in a table, an URL, two lines.
enum NeighbouringSecret {
    private static let reach = 160

    static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let keyEnd = text.end(of: .base32, from: keyword.upperBound, atMost: 17)
        guard keyEnd - keyword.upperBound == 16, text.beginsWord(at: keyword.lowerBound, unlike: .word) else {
            return nil
        }
        var position = keyEnd
        let bound = min(text.count, keyEnd + reach)
        while position < bound {
            let end = text.end(of: .base64, from: position, atMost: 64)
            if end - position == 40, isSecret(text.slice(position..<end)) {
                return Detector.Draft(range: position..<end, certainty: .likely)
            }
            position = end + 1
        }
        return nil
    }

    private static func isSecret(_ text: SearchText) -> Bool {
        !text.allSatisfy(.hex) && Entropy.bitsPerByte(text) >= 4 && !Placeholder.isIn(token: text)
            && !Wordiness(text).isIdentifier
    }
}
