/// Tokens of Discord's bots: the bot's number in base64, a time, a signature, joined by dots.
enum DiscordToken {
    /// How the digits of a number begin in base64.
    private static let heads = ["MT", "MD", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"]

    static func detectors(_ rule: SecretRule) -> [Detector] {
        heads.map { head in Detector(rule, head) { find(in: $0, $1) } }
    }

    private static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let start = keyword.lowerBound
        let number = text.end(of: .base64url, from: keyword.upperBound, atMost: 30)
        guard (22...28).contains(number - start), text[number] == UInt8(ascii: ".") else { return nil }
        guard text.beginsWord(at: start, unlike: .anyBase64) else { return nil }
        let time = text.end(of: .base64url, from: number + 1, atMost: 8)
        guard (5...7).contains(time - number - 1), text[time] == UInt8(ascii: ".") else { return nil }
        let end = text.end(of: .base64url, from: time + 1, atMost: 64)
        guard (27...45).contains(end - time - 1) else { return nil }
        guard let digits = Base64.decoded(text.slice(start..<number)), digits.allSatisfy(ByteClass.digit.contains)
        else { return nil }
        return Placeholder.hasRow(of: 6, in: text.slice(time..<end)) ? nil : Detector.Draft(range: start..<end)
    }
}
