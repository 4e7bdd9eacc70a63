import SecretSearch
import Testing

@Suite struct SecretSearcherTests {
    @Test func everyRuleHasAnIdOfItsOwn() {
        let ids = SecretRules.all.map(\.id)
        #expect(Set(ids).count == ids.count)
    }
}
