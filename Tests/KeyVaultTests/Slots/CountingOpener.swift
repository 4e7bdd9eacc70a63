import CryptoPrimitives
import Synchronization

@testable import KeyVault

/// Stands for a passphrase that is never right, without spending what a slot asks for.
final class CountingOpener: SlotOpener {
    /// Whether it gets as far as to need memory that the machine does not have.
    private let derives: Bool
    private let attempts = Mutex<[UInt64]>([])

    init(derives: Bool) { self.derives = derives }

    /// What each slot that was tried would have cost, in order.
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
