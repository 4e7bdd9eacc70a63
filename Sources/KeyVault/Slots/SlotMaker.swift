internal import CryptoPrimitives

/// Makes slots of one kind. A recipient's maker knows only public bytes: who adds a slot for somebody else needs no
/// secret of theirs.
protocol SlotMaker: Sendable {
    var kind: SlotKind { get }
    /// What its slots give; within what the kind permits.
    var reach: SlotReach { get }

    /// Fresh parameters and the key that they lead to. All that is slow or needs a file happens here, so that it can be
    /// done before the vault's lock is taken.
    ///
    /// - Throws: `VaultError` `.outOfMemory` or `.invalidArgument`, and what the file that it needs is refused for.
    func wrappingKey(vaultID: [UInt8]) throws(VaultError) -> WrappingKey
}

/// A slot's parameters and the key that they lead to.
struct WrappingKey: ~Copyable, Sendable {
    let parameters: [UInt8]
    let key: SecretBytes
}

/// A slot for one vault that lacks only its number, its date and the secrets.
struct PreparedSlot: ~Copyable, Sendable {
    let kind: SlotKind
    let reach: SlotReach
    let vaultID: [UInt8]
    let wrapping: WrappingKey

    /// - Throws: `VaultError` as the maker's `wrappingKey`.
    init(_ maker: any SlotMaker, vaultID: [UInt8]) throws(VaultError) {
        kind = maker.kind
        reach = maker.reach
        self.vaultID = vaultID
        wrapping = try maker.wrappingKey(vaultID: vaultID)
    }

    /// The slot.
    ///
    /// - Parameter secrets: Root and class keys one behind the other, as many as its reach has.
    borrowing func slot(wrapping secrets: borrowing SecretBytes, id: UInt32, createdAt: UInt64) -> KeySlot {
        precondition(
            kind.permits(reach) && secrets.count == VaultSecrets.size(reach: reach), "a slot wraps what its reach says")
        var slot = KeySlot(kind: kind, reach: reach, id: id, createdAt: createdAt, payload: [])
        let bound = slot.bound(to: vaultID, parameters: wrapping.parameters)
        slot.payload = wrapping.parameters + SecretWrap.wrap(secrets, under: wrapping.key, bound: bound)
        return slot
    }
}

extension SlotMaker {
    /// Makes a slot in one go.
    ///
    /// - Throws: `VaultError` as `PreparedSlot`, and `.locked` when the secrets at hand reach less far than the slot.
    func slot(
        for secrets: borrowing VaultSecrets, vaultID: [UInt8], id: UInt32, createdAt: UInt64, place: VaultPlace
    ) throws(VaultError) -> KeySlot {
        guard let joined = secrets.joined(reach: reach) else {
            throw VaultError(
                .locked, "make a key slot", place.path, "A \(kind) slot gives more than is unlocked now.",
                advice: "Open the vault with a passphrase or identity.")
        }
        let prepared = try PreparedSlot(self, vaultID: vaultID)
        return prepared.slot(wrapping: joined, id: id, createdAt: createdAt)
    }
}

extension VaultError {
    /// Runs a primitive that a new slot needs and says what its refusal means.
    static func making<Result: ~Copyable>(
        _ kind: SlotKind, _ body: () throws(CryptoError) -> Result
    ) throws(VaultError) -> Result {
        do throws(CryptoError) { return try body() } catch {
            throw VaultError(
                error.code == .outOfMemory ? .outOfMemory : .invalidArgument, "make a key slot", kind.description,
                "It could not be made (\(error)).")
        }
    }
}
