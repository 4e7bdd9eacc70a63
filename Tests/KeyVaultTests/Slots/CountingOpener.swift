import CryptoPrimitives
import Synchronization

@testable import KeyVault

/// A passphrase opener that is never right and that does not spend the costs of a slot.
final class CountingOpener: SlotOpener {
    /// True if the opener tries to allocate more memory than the machine has.
    private let derives: Bool
    private let attempts = Mutex<[UInt64]>([])

    init(derives: Bool) { self.derives = derives }

    /// The costs that each tried slot would have had, in order.
    var tried: [UInt64] { attempts.withLock { $0 } }

    var kind: SlotKind { .passphrase }
    var mismatch: VaultError.Code { .wrongPassphrase }

    func work(for parameters: ArraySlice<UInt8>) throws(CryptoError) -> SlotWork {
        SlotWork(try PassphraseParameters(parsing: parameters).costs)
    }

    func holder(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) throws(CryptoError) -> HolderSecret {
        let work = try work(for: parameters)
        attempts.withLock { $0.append(work.passKiB) }
        throw CryptoError(derives ? .outOfMemory : .authenticationFailed, "test")
    }
}
