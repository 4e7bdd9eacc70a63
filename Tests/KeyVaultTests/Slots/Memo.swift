import CryptoPrimitives
import Synchronization

@testable import KeyVault

/// Keys by what they were derived from.
final class Memo: Sendable {
    private final class Entry: Sendable {
        let key: SecretBytes

        init(_ key: consuming SecretBytes) { self.key = key }
    }

    private let entries = Mutex<[[UInt8]: Entry]>([:])

    func key(of input: [UInt8]) -> SecretBytes? {
        guard let entry = entries.withLock({ $0[input] }) else { return nil }
        return entry.key.copied()
    }

    func keep(_ key: consuming SecretBytes, of input: [UInt8]) {
        let entry = Entry(key)
        entries.withLock { $0[input] = entry }
    }
}
