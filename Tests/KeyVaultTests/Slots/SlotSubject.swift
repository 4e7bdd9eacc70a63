import CryptoPrimitives
import Synchronization
import Testing

@testable import KeyVault

/// One kind of slot with one reach, and what the conformance suite needs to put it through its table.
struct SlotSubject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let maker: any SlotMaker
    /// Opens what the maker made.
    let opener: any SlotOpener
    /// The same kind of credential, another one.
    let stranger: any SlotOpener
    /// What it means that no slot opens with such a credential.
    let mismatch: VaultError.Code

    static let all: [SlotSubject] = {
        do { return try [passphrase(), keyText(.keyFile), keyText(.credential)] + recipients() } catch {
            // The suite would otherwise pass over nothing.
            fatalError("no slots to test: \(error)")
        }
    }()

    private static func passphrase() throws -> SlotSubject {
        let (own, other) = (try Passphrase("correct horse"), try Passphrase("battery staple"))
        return SlotSubject(
            testDescription: "passphrase", maker: PassphraseMaker(passphrase: own, costs: .minimum),
            opener: MemoOpener(PassphraseOpener(passphrase: own)), stranger: PassphraseOpener(passphrase: other),
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

/// The same opener, which derives the secret of the same parameters only once: every bit of a slot is flipped, and most of
/// them do not change the parameters.
final class MemoOpener: SlotOpener {
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
    /// For tests only: a literal is nobody's secret.
    convenience init(_ text: String) throws {
        let bytes = Array(text.utf8).withRawBytes { SecretBytes(copying: $0) }
        try self.init(bytes)
    }
}
