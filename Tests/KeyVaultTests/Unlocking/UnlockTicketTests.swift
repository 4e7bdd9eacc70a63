import CryptoPrimitives
import Testing

@testable import KeyVault

@Suite struct UnlockTicketTests {
    private let vaultID = SecureRandom.bytes(count: 16)

    private func ticket(
        _ protection: ProtectionClass = .whenUnlocked, deadline: UInt64 = 0, boot: BootID = .current,
        root: borrowing SecretBytes
    ) -> [UInt8] {
        let secret = SecretBytes.random(count: protection == .whenUnlocked ? 32 : 64)
        let name = UnlockName(vaultID: vaultID, protection)
        let ticket = secret.withUnsafeBytes {
            UnlockTicket.make(name, secret: $0, deadline: deadline, boot: boot, root: root)
        }
        return ticket.withUnsafeBytes { Array($0) }
    }

    private enum Worth: Equatable { case holds(Duration?), expired, foreign }

    private func worth(
        _ ticket: [UInt8], _ protection: ProtectionClass = .whenUnlocked, of vaultID: [UInt8]? = nil,
        root: borrowing SecretBytes, now: UInt64 = 1000
    ) -> Worth {
        let name = UnlockName(vaultID: vaultID ?? self.vaultID, protection)
        return root.withUnsafeBytes { root in
            ticket.withUnsafeBytes { ticket in
                switch UnlockTicket.verdict(on: ticket, name, root: root, now: now) {
                case .holds(let secret, let left, _):
                    #expect(secret.count == (protection == .whenUnlocked ? 32 : 64))
                    return .holds(left)
                case .expired: return .expired
                case .foreign: return .foreign
                }
            }
        }
    }

    @Test func aTicketHoldsUntilItsDeadline() {
        let root = SecretBytes.random(count: 32)
        #expect(worth(ticket(root: root), root: root, now: .max) == .holds(nil))
        let timed = ticket(deadline: 1000, root: root)
        #expect(worth(timed, root: root, now: 999) == .holds(.milliseconds(1)))
        #expect(worth(timed, root: root, now: 1000) == .expired)
        #expect(worth(timed, root: root, now: 1001) == .expired)
    }

    @Test func aTicketIsForOneVaultOneClassOneRootAndOneBoot() {
        let root = SecretBytes.random(count: 32)
        let whole = ticket(.afterFirstUnlock, root: root)
        #expect(worth(whole, .afterFirstUnlock, root: root) == .holds(nil))
        #expect(worth(whole, .whenUnlocked, root: root) == .foreign)
        #expect(worth(whole, .afterFirstUnlock, of: SecureRandom.bytes(count: 16), root: root) == .foreign)
        let other = SecretBytes.random(count: 32)
        #expect(worth(whole, .afterFirstUnlock, root: other) == .foreign)
        let before = ticket(.afterFirstUnlock, boot: WatermarkEntryTests.before, root: root)
        #expect(worth(before, .afterFirstUnlock, root: root) == .foreign)
    }

    @Test func everyFlippedBitAndEveryOtherSizeIsForeign() {
        let root = SecretBytes.random(count: 32)
        let whole = ticket(deadline: 5000, root: root)
        for bit in 0..<whole.count * 8 {
            var changed = whole
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(worth(changed, root: root) == .foreign)
        }
        for count in 0..<whole.count { #expect(worth(Array(whole[..<count]), root: root) == .foreign) }
        #expect(worth(whole + [0], root: root) == .foreign)
    }

    @Test func everyTicketFitsTheRoomForOne() {
        let root = SecretBytes.random(count: 32)
        #expect(ticket(.afterFirstUnlock, root: root).count <= UnlockTicket.maximumSize)
        #expect(ticket(.whenUnlocked, root: root).count <= UnlockTicket.maximumSize)
    }
}
