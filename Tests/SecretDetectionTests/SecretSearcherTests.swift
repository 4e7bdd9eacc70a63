import TestSupport
import Testing

@testable import SecretDetection

/// Tests of properties that every search has.
@Suite struct SecretSearcherTests {
    @Test func matchesComeInOrderAndDoNotOverlap() {
        let texts = SecretSamples.all.map { $0.drawn(seed: 31) }
        let found = Found.all(in: texts.joined(separator: " \n"))
        #expect(found.count >= texts.count)
        for (last, next) in zip(found, found.dropFirst()) { #expect(last.range.upperBound <= next.range.lowerBound) }
    }

    @Test func aSearchEndsAtItsGivenEnd() {
        let text = Array(SecretSamples.all.prefix(8).map { $0.drawn(seed: 32) }.joined(separator: "\n").utf8)
        var count = 0
        text.withUnsafeBytes { text in
            SecretSearcher.standard.search(text) { _ in
                count += 1
                return count < 3
            }
        }
        #expect(count == 3)
    }

    @Test func theSurerOfTwoMatchesStays() {
        let token = SecretSample("", "ghp_{an36}").drawn(seed: 33)
        #expect(Found.all(in: "\"access_token\": \"\(token)\"").map(\.rule.id) == ["token.github"])
        #expect(Found.judged(token, named: "password").map(\.rule.id) == ["token.github"])
    }

    @Test(arguments: [
        "The quick brown fox jumps over the lazy dog.", "{\"name\": \"Ada\", \"items\": [1, 2, 3], \"max_tokens\": 5}",
        "https://host.test/path?x=1", "{\"password\": \"Passwort\", \"keyboard\": \"qwertz\"}", "gr\\u00fc\\u00df",
        "a\\u0026b \\u003cc\\u003e",
    ]) func harmlessTextIsNotSuspicious(_ text: String) { #expect(!Found.isSuspicious(text)) }

    @Test(arguments: [
        "{\"x\": \"\\u0067hp_\"}", "{\"passwords\": [\"a\"]}", "{\"x\": \"YnBsaXN0MDDRAQJUbmFtZVVhbGljZQ==\"}",
        "{\"x\": \"4b65793a2070617373776f72643d7878\"}", "{\"x\": \"eyJhIjogImIiLCAiYyI6ICJkIn0=\"}",
        "<key>token</key><data>AAAA</data>",
    ]) func whatMayHideASecretIsSuspicious(_ text: String) { #expect(Found.isSuspicious(text)) }

    @Test func runsOfLettersAreFoundWithTheirEncoding() throws {
        let list = WebTokenTests.letters("bplist00 and what else there is in it")
        let text = "a \(list)\nb 62706c6973743030d101025461626364\nc \(WebTokenTests.letters("user=ada&password=x"))=\n"
        let runs = Found.runs(in: text)
        #expect(runs.map(\.encoding) == [.base64, .hex, .base64])
        let first = try #require(runs.first)
        #expect(String(decoding: Array(text.utf8)[first.range], as: UTF8.self) == list)
    }

    @Test func aWordIsKnownInBase64WhereverItBegins() {
        for shift in 0..<3 {
            let text = WebTokenTests.letters(String(repeating: "-", count: 9 + shift) + "password=" + "x y z")
            #expect(Found.runs(in: "v: \(text)").map(\.range) == [3..<3 + text.utf8.count])
        }
    }

    @Test func aTokenIsNotARun() { #expect(Found.runs(in: WebTokenTests.token("{\"sub\":\"4711\"}")).isEmpty) }

    @Test func aRunContinuesOverLineEnds() {
        let line = WebTokenTests.letters("bplist00" + String(repeating: "some bytes, ", count: 4))
        let text = "data:\n    \(line)\n    \(line)\n    \(line.prefix(20))\nend"
        #expect(Found.runs(in: text).count == 1)
        #expect(Found.runs(in: text).first?.range.upperBound == text.utf8.count - 4)
    }
}
