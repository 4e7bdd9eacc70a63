import AppGroups
import CryptoPrimitives
import KeyVault
import SealedState
import Sealing
import SharedFiles
import Testing

/// Tests of the codes of errors as text and as patterns.
@Suite struct ErrorCodeTests {
    @Test func aCodeIsPrintedAsItsName() {
        let codes: [any CustomStringConvertible] = [
            FileError.Code.notFound, AppGroupError.Code.notShared, VaultError.Code.locked, StoreError.Code.stale,
            SealingError.Code.tampered, CryptoError.Code.outOfMemory,
        ]
        #expect(codes.map { "\($0)" } == ["notFound", "notShared", "locked", "stale", "tampered", "outOfMemory"])
    }

    @Test func aCodeIsAPatternForErrorsOfItsTypeOnly() throws {
        let longIdentifier = "group." + String(repeating: "a", count: AppGroup.maximumLength)
        let refused = try #require(throws: AppGroupError.self) { try AppGroup(longIdentifier) }
        let errors: [any Error] = [
            Self.locked, StoreError(.locked, "read", "note", "The vault is locked."),
            StoreError(.stale, "read", "note", "It has expired."), StoreError(.absent, "read", "note", "It is absent."),
            refused, CancellationError(),
        ]
        #expect(errors.map { kind(of: $0) } == ["vault", "store", "store", "other", "group", "other"])
    }

    @Test func aCodeIsAPatternWithTypedThrows() {
        func refuse() throws(VaultError) { throw Self.locked }
        var isLocked = false
        do throws(VaultError) {
            try refuse()
        } catch VaultError.Code.locked {
            isLocked = true
        } catch {
            Issue.record("\(error)")
        }
        #expect(isLocked)
    }

    private static let locked = VaultError(.locked, "open", "/v/vault", "No credential opens it.")

    private func kind(of error: any Error) -> String {
        do {
            throw error
        } catch VaultError.Code.locked {
            return "vault"
        } catch StoreError.Code.locked, StoreError.Code.stale {
            return "store"
        } catch AppGroupError.Code.tooLong {
            return "group"
        } catch {
            return "other"
        }
    }
}
