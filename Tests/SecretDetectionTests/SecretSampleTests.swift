import TestSupport
import Testing

@testable import SecretDetection

/// Tests of every rule with a sample of its own, and with a look-alike.
@Suite struct SecretSampleTests {
    @Test func everyKindOfNameHasARule() {
        for kind in SecretName.Kind.allCases { #expect(FieldRules.rule(for: kind) != nil, "\(kind)") }
    }

    @Test func everyRuleHasAnIdOfItsOwn() {
        let ids = SecretRules.all.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(ids.count >= 60)
    }

    @Test func everyRuleHasASample() {
        let sampled = Set(SecretSamples.all.map(\.rule) + FieldSamples.all.map(\.rule) + WebTokenTests.rules)
        #expect(SecretRules.all.map(\.id).filter { !sampled.contains($0) } == [])
    }

    @Test(arguments: SecretSamples.all) func aSampleIsFoundAtEveryPosition(_ sample: SecretSample) {
        for seed in UInt64(1)...4 {
            let text = sample.drawn(seed: seed)
            for (before, after) in Self.surroundings {
                let found = Found.all(in: before + text + after)
                #expect(found.contains { $0.rule.id == sample.rule }, "seed \(seed), behind \(before.debugDescription)")
                #expect(Found.isSuspicious(before + text + after))
            }
        }
    }

    @Test(arguments: SecretSamples.all) func aSampleIsFoundInAValue(_ sample: SecretSample) {
        for seed in UInt64(11)...14 {
            let found = Found.judged(sample.drawn(seed: seed), named: "value")
            #expect(found.contains { $0.rule.id == sample.rule }, "seed \(seed)")
        }
    }

    @Test(arguments: SecretSamples.all) func secretLookAlikesAreNotFound(_ sample: SecretSample) {
        for seed in UInt64(21)...24 {
            let text = sample.harmless(seed: seed)
            #expect(Found.all(in: "see " + text + " there").isEmpty, "seed \(seed)")
            #expect(Found.judged(text, named: "value").isEmpty, "seed \(seed)")
        }
    }

    private static let surroundings = [
        ("", ""), ("see ", " there"), ("x = \"", "\";\n"), ("{\"value\": \"", "\", \"n\": 1}"), ("line\\n", "\\nline"),
        ("<string>", "</string>"),
        ("VALUE=", "\n"), ("\0\u{1}\u{2}", "\0\0"), ("größe: ", "\r\n"),
    ]
}
