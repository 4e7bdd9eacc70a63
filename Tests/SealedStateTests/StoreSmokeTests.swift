import FoundationEssentials
import SealedState
import Testing
import TestSupport

struct WidgetAuthState: SealedRecord, Equatable {
    static let recordName = "widget_auth_state"
    static let schemaVersion = 1
    var isAuthenticated: Bool
    var displayName: String?
    var tokenExpiresAt: Date?
    var expiresAt: Date? { isAuthenticated ? tokenExpiresAt : nil }
}

@Suite struct StoreSmokeTests {
    @Test func aWrittenStateIsReadBack() async throws {
        let home = GroupsHome(root: "/tmp/smoke/\(UInt64.random(in: 0 ... .max))")
        let group = try AppGroup("group.com.example.app")
        let store = try SealedStore(group: group, in: home)
        let state = WidgetAuthState(isAuthenticated: true, displayName: "Ada", tokenExpiresAt: Date() + 60)
        #expect(throws: StoreError.self) { try store.read(WidgetAuthState.self) }
        let first = try await store.write(state)
        #expect(first == 1)
        #expect(try store.read(WidgetAuthState.self) == state)
        let second = try await store.update(WidgetAuthState.self) { $0.displayName = "Grace" }
        #expect(second == 2)
        #expect(try store.read(WidgetAuthState.self).displayName == "Grace")
        let other = try SealedStore(group: group, in: home)
        #expect(try other.read(WidgetAuthState.self).displayName == "Grace")
        try await store.delete(named: "widget_auth_state")
        #expect(store.readIfValid(WidgetAuthState.self) == nil)
    }
}
