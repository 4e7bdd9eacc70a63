import AppGroups
import Testing

/// Tests of a notification center that outlives its group's container, also one of another name.
@Suite(.timeLimit(.minutes(10))) struct NotificationFollowingTests {
    @Test(arguments: ContainerBehavior.allCases)
    func observersHearPostsInTheContainerThatFollows(behavior: ContainerBehavior) async throws {
        let yard = try RegistryYard()
        let first = try yard.register("app", behavior)
        let center = GroupNotificationCenter(first)
        var posts = try center.notifications(named: "changed").makeAsyncIterator()
        try center.post("changed")
        _ = await posts.next()

        try yard.registry.reset()
        let other = try GroupNotificationCenter(group: yard.group, in: yard.home, creating: false)
        try other.post("changed")
        _ = await posts.next()
        #expect(try center.token(of: "changed") == other.token(of: "changed"))
    }

    @Test func observersWaitForAContainerThatIsMadeLater() async throws {
        let yard = try RegistryYard()
        try yard.register("app", .iOS)
        try yard.registry.unregister("app")
        let center = try GroupNotificationCenter(group: yard.group, in: yard.home, creating: false)
        var posts = try center.notifications(named: "changed").makeAsyncIterator()
        #expect(code { try center.post("changed") } == .containerMissing)
        let container = try yard.open()
        try GroupNotificationCenter(container).post("changed")
        _ = await posts.next()
    }
}
