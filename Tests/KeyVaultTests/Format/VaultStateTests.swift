import CryptoPrimitives
import Sealing
import Testing

@testable import KeyVault

@Suite struct VaultStateTests {
    private func full() -> VaultState {
        var state = VaultState()
        state.minimumEpoch = 2
        state.rotation = .completed
        state.rotationBegan = 3
        state.rotationCompleted = 4
        state.nextSlotID = 5
        state.logHead = AccessLogHead(count: 6, code: Bytes32(filling: { SecureRandom.fill($0) }))
        state.whenUnlockedID = Bytes16(filling: { SecureRandom.fill($0) })
        return state
    }

    @Test func whatIsWrittenIsReadBack() throws {
        for state in [VaultState(), full()] {
            #expect(state.encoded.count == VaultState.encodedSize)
            #expect(try VaultState(parsing: state.encoded[...], path: "vault") == state)
        }
    }

    @Test func theKeysNameLiesWhereTheFormatSays() {
        let state = full()
        #expect(state.encoded[72..<88].elementsEqual(state.whenUnlockedID.withUnsafeBytes { Array($0) }))
    }

    @Test(arguments: [0, 79, 80, 88, 95, 97]) func anotherSizeIsRefused(_ size: Int) {
        let bytes = Array((full().encoded + [0]).prefix(size))
        #expect(throws: VaultError.self) { try VaultState(parsing: bytes[...], path: "vault") }
    }

    @Test(arguments: [28, 31, 88, 95]) func bytesThatHaveToBeZeroAre(_ offset: Int) {
        var bytes = full().encoded
        bytes[offset] = 1
        #expect(throws: VaultError.self) { try VaultState(parsing: bytes[...], path: "vault") }
    }
}
