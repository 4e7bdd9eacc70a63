import CryptoPrimitives
import Testing

@testable import KeyVault

@Suite struct SlotReachTests {
    private static let permitted: [SlotKind: Set<SlotReach>] = [
        .passphrase: [.whenUnlocked],
        .keyFile: [.afterFirstUnlock],
        .credential: [.afterFirstUnlock],
        .recipient: [.afterFirstUnlock, .whenUnlocked],
    ]

    @Test(arguments: SlotKind.allCases)
    func whatLiesAboutNeverReachesWhatNeedsAPerson(_ kind: SlotKind) {
        for reach in [SlotReach.afterFirstUnlock, .whenUnlocked] {
            #expect(kind.permits(reach) == Self.permitted[kind]?.contains(reach))
        }
    }

    @Test func anUnknownKindOrReachIsUnsupportedNotCorrupt() throws {
        let yard = SlotYard()
        let good = try yard.slot(SlotSubject.all[1].maker).encoded
        for (offset, value) in [(0, UInt8(0)), (0, 5), (0, 255), (1, 0), (1, 3)] {
            var bad = good
            bad[offset] = value
            #expect(
                code { () throws(VaultError) in _ = try KeySlot.parse(bad[...], count: 1, path: "vault") }
                    == .unsupported)
        }
    }

    @Test func aSlotWithoutANumberIsCorrupt() throws {
        let yard = SlotYard()
        let slot = try yard.slot(SlotSubject.all[1].maker, id: 0)
        #expect(
            code { () throws(VaultError) in _ = try KeySlot.parse(slot.encoded[...], count: 1, path: "vault") }
                == .corrupt)
    }

    @Test func secretsThatAreLockedCannotBeGivenAway() throws {
        let yard = SlotYard()
        let known = VaultSecrets(
            root: yard.secrets.root.copied(), afterFirstUnlock: yard.secrets.afterFirstUnlock.copied(),
            whenUnlocked: nil)
        let place = try VaultFixture().place
        for subject in SlotSubject.all {
            do throws(VaultError) {
                let slot = try subject.maker.slot(
                    for: known, vaultID: yard.vaultID, id: 1, createdAt: 1, place: place)
                #expect(slot.reach == .afterFirstUnlock)
            } catch {
                #expect(error.code == .locked && subject.maker.reach == .whenUnlocked)
            }
        }
    }

    @Test func oneSecretInAKeyFileAndACredentialOpensOnlyTheSlotOfItsKind() throws {
        let yard = SlotYard()
        let secret = SecretBytes.random(count: 32)
        let (file, credential) = (
            KeyTextSlot(.keyFile, key: secret.copied()), KeyTextSlot(.credential, key: secret.copied())
        )
        let slot = try yard.slot(file)
        let renamed = KeySlot(
            kind: .credential, reach: slot.reach, id: slot.id, createdAt: slot.createdAt, payload: slot.payload)
        #expect(refusal(of: slot, file, yard.vaultID) == nil)
        #expect(refusal(of: renamed, credential, yard.vaultID) == .authenticationFailed)
        let salt = [UInt8](repeating: 1, count: 16)
        let one = file.unwrappingKey(parameters: salt[...], vaultID: yard.vaultID)
        let two = credential.unwrappingKey(parameters: salt[...], vaultID: yard.vaultID)
        let areEqual = one.isEqual(to: two)
        #expect(!areEqual)
    }
}
