import TestSupport
import Testing

@testable import SecretDetection

@Suite struct KeywordAutomatonTests {
    /// Compares with an exhaustive search: every keyword at every place.
    @Test func everyKeywordIsFoundAtEveryPlace() {
        for seed in UInt64(0)..<60 {
            var generator = SeededGenerator(seed: seed)
            func word(_ lengths: ClosedRange<Int>) -> [UInt8] {
                (0..<Int.random(in: lengths, using: &generator)).map { _ in
                    "abAB-".utf8.randomElement(using: &generator) ?? 0
                }
            }
            let keywords = (0..<12).map { index in
                Keyword(word(1...5), isExact: index % 2 == 0, .detector(Int32(index)))
            }
            let text = word(200...200)
            #expect(Self.found(keywords, in: text) == Self.expected(keywords, in: text), "seed \(seed)")
        }
    }

    private static func found(_ keywords: [Keyword], in bytes: [UInt8]) -> Set<[Int]> {
        let automaton = KeywordAutomaton(keywords)
        var found: Set<[Int]> = []
        bytes.withUnsafeBytes { bytes in
            let text = SearchText(bytes)
            var state: KeywordAutomaton.State = 0
            for position in bytes.indices {
                state = automaton.next(state, bytes[position])
                guard state & KeywordAutomaton.accepting != 0 else { continue }
                for ending in automaton.endings(in: state)
                where automaton.isThere(ending, in: text, endingAt: position + 1) {
                    if case .detector(let index) = ending.role {
                        found.insert([Int(index), position + 1 - ending.length])
                    }
                }
            }
        }
        return found
    }

    private static func expected(_ keywords: [Keyword], in bytes: [UInt8]) -> Set<[Int]> {
        var expected: Set<[Int]> = []
        for (index, keyword) in keywords.enumerated() {
            for start in 0...(bytes.count - keyword.bytes.count) {
                let part = bytes[start..<start + keyword.bytes.count]
                let isThere =
                    keyword.isExact
                    ? part.elementsEqual(keyword.bytes) : part.map(\.lowered) == keyword.bytes.map(\.lowered)
                if isThere { expected.insert([index, start]) }
            }
        }
        return expected
    }
}
