import CryptoPrimitives
import Testing

@testable import KeyVault

@Suite struct UnlockTicketTests {
    private let vaultID = SecureRandom.bytes(count: 16)

    private let root = RootKey.random()

    private func ticket(
        _ protection: ProtectionClass = .whenUnlocked, deadline: UInt64 = 0, boot: BootID = .current
    ) -> [UInt8] {
        let name = UnlockName(vaultID: vaultID, protection)
        return UnlockTicket.make(name, root: root, deadline: deadline, boot: boot).withUnsafeBytes { Array($0) }
    }

    private enum TicketState: Equatable { case holds(Duration?), expired, foreign }

    private func worth(
        _ ticket: [UInt8], _ protection: ProtectionClass = .whenUnlocked, of vaultID: [UInt8]? = nil, now: UInt64 = 1000
    ) -> TicketState {
        let name = UnlockName(vaultID: vaultID ?? self.vaultID, protection)
        return ticket.withUnsafeBytes { ticket in
            switch UnlockTicket.verdict(on: ticket, name, now: now) {
            case .holds(let found, let left, _):
                #expect(RootKey.commitment(of: found) == root.commitment)
                return .holds(left)
            case .expired: return .expired
            case .foreign: return .foreign
            }
        }
    }

    @Test func aTicketHoldsUntilItsDeadline() {
        #expect(worth(ticket(), now: .max) == .holds(nil))
        let timed = ticket(deadline: 1000)
        #expect(worth(timed, now: 999) == .holds(.milliseconds(1)))
        #expect(worth(timed, now: 1000) == .expired)
        #expect(worth(timed, now: 1001) == .expired)
    }

    @Test func aTicketIsForOneVaultOneClassAndOneBoot() {
        let whole = ticket(.afterFirstUnlock)
        #expect(worth(whole, .afterFirstUnlock) == .holds(nil))
        #expect(worth(whole, .whenUnlocked) == .foreign)
        #expect(worth(whole, .afterFirstUnlock, of: SecureRandom.bytes(count: 16)) == .foreign)
        let before = ticket(.afterFirstUnlock, boot: WatermarkEntryTests.before)
        #expect(worth(before, .afterFirstUnlock) == .foreign)
    }

    @Test func everyFlippedBitAndEveryOtherSizeIsForeign() {
        let whole = ticket(deadline: 5000)
        for bit in 0..<whole.count * 8 {
            var changed = whole
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(worth(changed) == .foreign)
        }
        for count in 0..<whole.count { #expect(worth(Array(whole[..<count])) == .foreign) }
        #expect(worth(whole + [0]) == .foreign)
    }

    @Test func everyTicketFitsTheRoomForOne() {
        #expect(ticket(.afterFirstUnlock).count <= UnlockTicket.maximumSize)
        #expect(ticket(.whenUnlocked).count <= UnlockTicket.maximumSize)
    }
}
