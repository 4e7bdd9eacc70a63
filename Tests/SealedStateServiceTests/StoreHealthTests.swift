import Glibc
import SealedStateService
import TestSupport
import Testing

@Suite("StoreHealth")
struct StoreHealthTests {
    private let place: TemporaryDirectory
    private let store: SealedStore

    init() throws {
        place = try TemporaryDirectory()
        store = try SealedStore(group: AppGroup("group.com.example.health"), in: GroupsHome(root: place.path))
    }

    private var container: String { place.path("Containers/group.com.example.health") }

    @Test func aNewStoreIsHealthy() {
        let health = store.health
        #expect(health.container == .present)
        #expect(health.vault == .ready)
        #expect(health.isHealthy)
        #expect(health.lastUpdate == nil)
        #expect(health.watching == nil)
        #expect(health.description.hasPrefix("healthy: "))
    }

    @Test func aMissingContainerIsNot() {
        #expect(rename(container, container + ".away") == 0)
        #expect(store.health.container == .missing)
        #expect(!store.health.isHealthy)
    }

    @Test func anotherContainerInItsPlaceIsFollowed() throws {
        #expect(rename(container, container + ".away") == 0)
        let successor = try SealedStore(group: store.group, in: GroupsHome(root: place.path))
        #expect(store.health.isHealthy && successor.health.isHealthy)
    }

    @Test func anUnsafeContainerIsNot() {
        #expect(rename(container, container + ".away") == 0)
        #expect(mkdir(container, 0o700) == 0)
        chmod(container, 0o777)
        guard case .unusable = store.health.container else {
            Issue.record("it is \(store.health.container)")
            return
        }
    }

    @Test func anOpenContainerThatOthersMayWriteToIsNot() {
        chmod(container, 0o777)
        guard case .unusable = store.health.container else {
            Issue.record("it is \(store.health.container)")
            return
        }
        #expect(!store.health.isHealthy)
        chmod(container, 0o700)
        #expect(store.health.container == .present)
    }

    @Test func aMissingVaultIsNot() {
        #expect(unlink(place.path("Vaults/group.com.example.health/vault")) == 0)
        #expect(store.health.vault == .missing)
        #expect(!store.health.isHealthy)
    }

    @Test func aVaultThatWaitsForItsUserIs() {
        #expect(unlink(place.path("Keys/group.com.example.health.key")) == 0)
        #expect(store.health.vault == .locked)
        #expect(store.health.isHealthy)
    }
}
