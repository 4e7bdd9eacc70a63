import AppGroups
import CryptoPrimitives
import KeyVault
import SealedState
import Sealing
import SharedFiles
import Testing

/// Tests of the codes of errors as text.
@Suite struct ErrorCodeTests {
    @Test func aCodeIsPrintedAsItsName() {
        let codes: [any CustomStringConvertible] = [
            FileError.Code.notFound, AppGroupError.Code.notShared, VaultError.Code.locked, StoreError.Code.stale,
            SealingError.Code.tampered, CryptoError.Code.outOfMemory,
        ]
        #expect(codes.map { "\($0)" } == ["notFound", "notShared", "locked", "stale", "tampered", "outOfMemory"])
    }
}
