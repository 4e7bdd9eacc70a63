import CryptoPrimitives
import Synchronization
import Testing

@testable import KeyVault

/// One kind of slot with one reach, and the data that the conformance suite needs for its table.
struct SlotSubject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let maker: any SlotMaker
    /// Opens the slot that the maker created.
    let opener: any SlotOpener
    /// Another credential of the same kind.
    let stranger: any SlotOpener
    /// The error if no slot opens with such a credential.
    let mismatch: VaultError.Code

    static let all: [SlotSubject] = {
        do { return try [passphrase(), keyText(.keyFile), keyText(.credential)] + recipients() } catch {
            // Otherwise the suite would test nothing.
            fatalError("no slots to test: \(error)")
        }
    }()

    private static func passphrase() throws -> SlotSubject {
        let (own, other) = (try Passphrase("correct horse"), try Passphrase("battery staple"))
        return SlotSubject(
            testDescription: "passphrase", maker: PassphraseMaker(passphrase: own, costs: .minimum),
            opener: CachingOpener(PassphraseOpener(passphrase: own)), stranger: PassphraseOpener(passphrase: other),
            mismatch: .wrongPassphrase)
    }

    private static func keyText(_ kind: SlotKind) -> SlotSubject {
        let own = KeyTextSlot(kind, key: .random(count: 32))
        return SlotSubject(
            testDescription: kind.description, maker: own, opener: own,
            stranger: KeyTextSlot(kind, key: .random(count: 32)),
            mismatch: kind == .keyFile ? .wrongKeyFile : .wrongCredential)
    }

    private static func recipients() throws -> [SlotSubject] {
        let (own, other) = (try Identity.random(), try Identity.random())
        return [false, true].map { isUnattended in
            SlotSubject(
                testDescription: isUnattended ? "unattended recipient" : "recipient",
                maker: RecipientMaker(recipient: own.recipient, isUnattended: isUnattended),
                opener: RecipientOpener(key: own.keys[0]), stranger: RecipientOpener(key: other.keys[0]),
                mismatch: .wrongIdentity)
        }
    }
}

/// The same opener, which derives the secret of the same parameters only once. The tests flip every bit of a slot, and
/// most bits do not change the parameters.
final class CachingOpener: SlotOpener {
    private let base: any SlotOpener
    private let seen = Mutex<[[UInt8]: HolderSecret]>([:])

    init(_ base: any SlotOpener) { self.base = base }

    var kind: SlotKind { base.kind }
    var mismatch: VaultError.Code { base.mismatch }

    func work(for parameters: ArraySlice<UInt8>) throws(CryptoError) -> SlotWork { try base.work(for: parameters) }

    func holder(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) throws(CryptoError) -> HolderSecret {
        let input = Array(parameters) + vaultID
        if let known = seen.withLock({ $0[input] }) { return known }
        let holder = try base.holder(parameters: parameters, vaultID: vaultID)
        seen.withLock { $0[input] = holder }
        return holder
    }
}

extension Passphrase {
    /// Creates a passphrase from a literal, which is not a secret. For tests only.
    convenience init(_ text: String) throws {
        let bytes = Array(text.utf8).withRawBytes { SecretBytes(copying: $0) }
        try self.init(bytes)
    }
}
