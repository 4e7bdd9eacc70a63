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
    func unattendedKindsNeverReachWhatNeedsAPerson(_ kind: SlotKind) {
        for reach in [SlotReach.afterFirstUnlock, .whenUnlocked] {
            #expect(kind.permits(reach) == Self.permitted[kind]?.contains(reach))
        }
    }

    @Test func anUnknownKindOrFormIsUnsupportedNotCorrupt() throws {
        let slot = try SlotSandbox().slot(SlotSubject.all[1].maker)
        for (offset, value) in [(0, UInt8(0)), (0, 5), (0, 255), (2, 2), (2, 255)] {
            #expect(code { () throws(VaultError) in _ = try slot.changing(offset, to: [value]) } == .unsupported)
        }
        // The reach is the file's.
        for reach in [UInt8(0), 4, 255] {
            #expect(code { () throws(VaultError) in _ = try slot.changing(1, to: [reach]) } == .corrupt)
        }
    }

    @Test func aSlotWithoutANumberIsCorrupt() throws {
        let slot = try SlotSandbox().slot(SlotSubject.all[1].maker, id: 0)
        #expect(code { () throws(VaultError) in _ = try KeySlot.parsed(slot.encoded, role: .service) } == .corrupt)
    }

    @Test func aSlotOfTheOtherFileIsCorrupt() throws {
        for subject in SlotSubject.all {
            let slot = try SlotSandbox().slot(subject.maker)
            for role in CompartmentRole.allCases {
                let refusal = code { () throws(VaultError) in _ = try KeySlot.parsed(slot.encoded, role: role) }
                #expect(refusal == (role == slot.reach.role ? nil : .corrupt))
            }
        }
    }

    @Test func slotsOutOfOrderOrOfOneNumberAreCorrupt() throws {
        let sandbox = SlotSandbox()
        let slots = try [UInt32(1), 2, 2].map { try sandbox.slot(SlotSubject.all[1].maker, id: $0).encoded }
        func refusal(_ slots: [[UInt8]]) -> VaultError.Code? {
            code { () throws(VaultError) in
                _ = try KeySlot.parse(slots.flatMap(\.self)[...], count: slots.count, role: .service, path: "vault")
            }
        }
        #expect(refusal([slots[0], slots[1]]) == nil)
        #expect(refusal([slots[1], slots[0]]) == .corrupt)
        #expect(refusal([slots[1], slots[2]]) == .corrupt)
    }

    @Test func oneSecretInAKeyFileAndACredentialOpensOnlyTheSlotOfItsKind() throws {
        let sandbox = SlotSandbox()
        let secret = SecretBytes.random(count: 32)
        let (file, credential) = (
            KeyTextSlot(.keyFile, key: secret.copied()), KeyTextSlot(.credential, key: secret.copied())
        )
        let slot = try sandbox.slot(file)
        let renamed = try #require(try slot.changing(0, to: [SlotKind.credential.rawValue]))
        #expect(refusal(of: slot, file, sandbox.vaultID) == nil)
        #expect(refusal(of: renamed, credential, sandbox.vaultID) == .authenticationFailed)
        let salt = [UInt8](repeating: 1, count: 16)
        let one = file.holder(parameters: salt[...], vaultID: sandbox.vaultID).withUnsafeBytes { Array($0) }
        let two = credential.holder(parameters: salt[...], vaultID: sandbox.vaultID).withUnsafeBytes { Array($0) }
        #expect(one != two)
    }
}
