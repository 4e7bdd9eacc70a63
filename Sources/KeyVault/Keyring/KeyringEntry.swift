internal import CryptoPrimitives
internal import Sealing

/// A sealing key's state in its life: `active`, then `decryptOnly`, then `destroyed`.
package enum KeyState: UInt8, Sendable, CustomStringConvertible {
    case active = 1
    case decryptOnly = 2
    case destroyed = 3

    package var description: String {
        switch self {
        case .active: "active"
        case .decryptOnly: "decrypt-only"
        case .destroyed: "destroyed"
        }
    }
}

/// A sealing key as the vault keeps it: its id, epoch, state and dates, and the key wrapped under its class key.
struct KeyringEntry: Hashable, Sendable {
    let keyID: [UInt8]
    let epoch: UInt32
    var state: KeyState
    let protection: ProtectionClass
    /// Milliseconds since 1970.
    let createdAt: UInt64
    /// All zero once the key was destroyed.
    var wrappedKey: [UInt8]

    static let encodedSize = 16 + 4 + 4 + 8 + SealingKey.size + SecretWrap.overhead

    func encode(into writer: inout ByteWriter) {
        writer.append(keyID)
        writer.append(epoch)
        writer.append(state.rawValue)
        writer.append(protection.rawValue)
        writer.append(UInt16(0))
        writer.append(createdAt)
        writer.append(wrappedKey)
    }

    init(
        keyID: [UInt8], epoch: UInt32, state: KeyState, protection: ProtectionClass, createdAt: UInt64,
        wrappedKey: [UInt8]
    ) {
        self.keyID = keyID
        self.epoch = epoch
        self.state = state
        self.protection = protection
        self.createdAt = createdAt
        self.wrappedKey = wrappedKey
    }

    /// Takes the key away for good; what the entry says about it stays.
    mutating func destroy() {
        state = .destroyed
        wrappedKey = [UInt8](repeating: 0, count: wrappedKey.count)
    }

    /// Reads an entry; nil for a state or class that this version does not know.
    init?(parsing reader: inout ByteReader) throws(VaultError) {
        let keyID = Array(try reader.take(16))
        let epoch: UInt32 = try reader.integer()
        let stateByte: UInt8 = try reader.integer()
        let protectionByte: UInt8 = try reader.integer()
        let reserved: UInt16 = try reader.integer()
        let createdAt: UInt64 = try reader.integer()
        let wrappedKey = Array(try reader.take(SealingKey.size + SecretWrap.overhead))
        guard reserved == 0, let state = KeyState(rawValue: stateByte),
            let protection = ProtectionClass(rawValue: protectionByte)
        else { return nil }
        self.init(
            keyID: keyID, epoch: epoch, state: state, protection: protection, createdAt: createdAt,
            wrappedKey: wrappedKey)
    }

    /// What the wrapped key is bound to: this vault, this id, this epoch, this class.
    static func bound(vaultID: [UInt8], keyID: [UInt8], epoch: UInt32, protection: ProtectionClass) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(vaultID)
        writer.append(keyID)
        writer.append(epoch)
        writer.append(protection.rawValue)
        return writer.bytes
    }
}
