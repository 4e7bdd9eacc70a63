import AppGroups
import Testing

/// Tests of a notification center that outlives its group's container, also one of another name.
@Suite(.timeLimit(.minutes(10))) struct NotificationFollowingTests {
    @Test(arguments: ContainerBehavior.allCases)
    func observersReceivePostsInTheContainerThatFollows(behavior: ContainerBehavior) async throws {
        let sandbox = try RegistrySandbox()
        let first = try sandbox.register("app", behavior)
        let center = GroupNotificationCenter(first)
        var posts = try center.notifications(named: "changed").makeAsyncIterator()
        try center.post("changed")
        _ = await posts.next()

        try sandbox.registry.reset()
        let other = try GroupNotificationCenter(group: sandbox.group, in: sandbox.home, creating: false)
        try other.post("changed")
        _ = await posts.next()
        #expect(try center.token(of: "changed") == other.token(of: "changed"))
    }

    @Test func observersWaitForAContainerThatIsMadeLater() async throws {
        let sandbox = try RegistrySandbox()
        try sandbox.register("app", .iOS)
        try sandbox.registry.unregister("app")
        let center = try GroupNotificationCenter(group: sandbox.group, in: sandbox.home, creating: false)
        var posts = try center.notifications(named: "changed").makeAsyncIterator()
        #expect(code { try center.post("changed") } == .containerMissing)
        let container = try sandbox.open()
        try GroupNotificationCenter(container).post("changed")
        _ = await posts.next()
    }
}
