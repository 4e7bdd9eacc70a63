import Carriers
import Testing

@Suite struct LeafTrailTests {
    @Test func aTrailReadsLikeThePathOfTheValue() {
        let trail = LeafTrail()
        for step in [LeafTrail.Step.key("accounts"), .index(2), .key("state"), .form("base64"), .form("plist")] {
            trail.enter(step)
        }
        trail.enter(.key("user"))
        #expect(trail.text == "accounts[2].state > base64 > plist: user")
        trail.leave(to: 1)
        #expect(trail.text == "accounts")
    }
}
