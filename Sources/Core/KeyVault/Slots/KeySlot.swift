internal import CryptoPrimitives
internal import Sealing

extension Personalization {
    static let slotKey = Personalization("SealedState.vsk2")
    static let slotScalar = Personalization("SealedState.vxk2")
    static let recipientSlot = Personalization("SealedState.vrs2")
    static let memoryKey = Personalization("SealedState.vmk2")
    static let memoryCode = Personalization("SealedState.vmm2")
    static let ephemeralScalar = Personalization("SealedState.veh2")
    static let fingerprint = Personalization("SealedState.vfp2")
}

/// The secret of a slot's holder, derived from a credential for one slot of one vault.
final class HolderSecret: Sendable {
    /// For recipients, the X25519 scalar itself.
    private let secret: SecretBytes
    private let isScalar: Bool

    init(_ secret: consuming SecretBytes, isScalar: Bool = false) {
        self.secret = secret
        self.isScalar = isScalar
    }

    func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try secret.withUnsafeBytes(body) }

    /// Returns the X25519 pair whose public key a rekey reseals the slot to.
    func pair(vaultID: [UInt8]) throws(CryptoError) -> X25519.PrivateKey {
        if isScalar { return try X25519.PrivateKey(secret.copied()) }
        return try X25519.PrivateKey(
            secret.withUnsafeBytes { secret in
                SecretBytes(count: X25519.keySize) { scalar in
                    vaultID.withRawBytes {
                        BLAKE2b.hash($0, key: secret, personalization: .slotScalar, into: scalar)
                    }
                }
            })
    }

    /// Returns the code by which the holder recognises a vault that it trusted.
    ///
    /// - Parameter trusted: The team key, else the person key.
    func memoryCode(vaultID: [UInt8], trusted: [UInt8]) -> Bytes32 {
        secret.withUnsafeBytes { secret in
            ScratchMemory.withSecret(count: 32) { key in
                vaultID.withRawBytes { BLAKE2b.hash($0, key: secret, personalization: .memoryKey, into: key) }
                return Bytes32(filling: { output in
                    trusted.withRawBytes {
                        BLAKE2b.hash($0, key: UnsafeRawBufferPointer(key), personalization: .memoryCode, into: output)
                    }
                })
            }
        }
    }
}

/// A way to open a compartment: public parameters and the wrapped root (`docs/spec/vault.md`, section 4).
struct KeySlot: Hashable, Sendable {
    static let fixedSize = 24

    /// The form of the wrapped root: for the credential or for the holder's public key.
    enum Form: UInt8, Sendable {
        case own = 0
        /// Sealed by a rekey, without the credential.
        case resealed = 1
    }

    let kind: SlotKind
    let reach: SlotReach
    var form: Form
    /// A number unique in the vault's history, from 1.
    let id: UInt32
    /// Milliseconds since 1970.
    let createdAt: UInt64
    /// The holder's X25519 key.
    let publicKey: [UInt8]
    let parameters: [UInt8]
    /// Empty if the root is wrapped for the credential itself.
    var ephemeral: [UInt8] = []
    var commitment = Bytes32.zero
    var wrappedRoot: [UInt8] = []
    /// The holder's code; zero until the holder opens the slot.
    var memoryCode = Bytes32.zero
    /// Fields that this version does not know and that are not critical, byte for byte.
    var otherFields: [UInt8] = []

    /// The slot without the fields that this version does not know.
    var withoutFields: KeySlot {
        var slot = self
        slot.otherFields = []
        return slot
    }

    var x25519: X25519.PublicKey? { try? X25519.PublicKey(bytes: publicKey) }
    private var hasEphemeral: Bool { kind == .recipient || form == .resealed }
    private static let wrappedSize = RootKey.size + SecretWrap.overhead

    /// Returns the associated data of the wrapped root. In a slot of the holder's own form only the holder can change
    /// the memory code.
    private func bound(to vaultID: [UInt8]) -> [UInt8] {
        vaultID + preamble + memoryCode.withUnsafeBytes { Array($0) }
    }

    /// The fields that do not change while the slot has its form.
    private var preamble: [UInt8] {
        var writer = ByteWriter()
        writer.append(kind.rawValue)
        writer.append(reach.rawValue)
        writer.append(form.rawValue)
        writer.append(UInt8(0))
        writer.append(id)
        writer.append(createdAt)
        return writer.bytes
    }

    var encoded: [UInt8] {
        var rest = ByteWriter()
        rest.append(publicKey)
        rest.append(parameters)
        rest.append(ephemeral)
        commitment.withUnsafeBytes { rest.append($0) }
        rest.append(wrappedRoot)
        memoryCode.withUnsafeBytes { rest.append($0) }
        rest.append(otherFields)
        var writer = ByteWriter()
        writer.append(preamble)
        writer.append(UInt32(rest.bytes.count))
        writer.append(UInt32(0))
        writer.append(rest.bytes)
        return writer.bytes
    }

    /// Parses `count` slots that fill the area exactly.
    static func parse(
        _ area: ArraySlice<UInt8>, count: Int, role: CompartmentRole, path: String
    ) throws(VaultError) -> [KeySlot] {
        var reader = ByteReader(area, path: path)
        var slots: [KeySlot] = []
        for _ in 0..<count {
            let slot = try KeySlot(parsing: &reader, path: path)
            guard slot.reach.role == role, slots.last.map({ $0.id < slot.id }) ?? true else {
                throw .corrupt(path, "Its key slots are out of order, or one belongs to the other file.")
            }
            slots.append(slot)
        }
        guard reader.isAtEnd else { throw .corrupt(path, "Its key slots are followed by other bytes.") }
        return slots
    }

    private init(parsing reader: inout ByteReader, path: String) throws(VaultError) {
        let kindByte: UInt8 = try reader.integer()
        let reachByte: UInt8 = try reader.integer()
        let formByte: UInt8 = try reader.integer()
        let reserved: UInt8 = try reader.integer()
        id = try reader.integer()
        createdAt = try reader.integer()
        let size: UInt32 = try reader.integer()
        let alsoReserved: UInt32 = try reader.integer()
        guard let kind = SlotKind(rawValue: kindByte), let form = Form(rawValue: formByte) else {
            throw VaultError(
                .unsupported, "open the vault", path,
                "It has a key slot of unknown kind \(kindByte) or form \(formByte).")
        }
        guard let reach = SlotReach(rawValue: reachByte), reserved == 0, alsoReserved == 0, id > 0, kind.permits(reach)
        else {
            throw .corrupt(path, "A key slot has invalid numbers.")
        }
        (self.kind, self.reach, self.form) = (kind, reach, form)
        var rest = ByteReader(try reader.take(Int(size)), path: path)
        publicKey = Array(try rest.take(X25519.keySize))
        parameters = Array(try rest.take(kind.parameterSize))
        if kind == .recipient || form == .resealed { ephemeral = Array(try rest.take(X25519.keySize)) }
        commitment = try rest.take(32).withUnsafeBytes { Bytes32($0) }
        wrappedRoot = Array(try rest.take(Self.wrappedSize))
        memoryCode = try rest.take(32).withUnsafeBytes { Bytes32($0) }
        otherFields = Array(try rest.take(rest.count))
        try Self.checkFields(otherFields, path)
    }

    private static func checkFields(_ fields: [UInt8], _ path: String) throws(VaultError) {
        var reader = ByteReader(fields[...], path: path)
        var last: Int = -1
        while !reader.isAtEnd {
            let number: UInt16 = try reader.integer()
            let flags: UInt16 = try reader.integer()
            guard Int(number) > last, flags <= 1 else { throw .corrupt(path, "A key slot's fields are out of order.") }
            guard flags == 0 else {
                throw VaultError(.unsupported, "open the vault", path, "A key slot has an unknown field \(number).")
            }
            _ = try reader.take(Int(try reader.integer(UInt32.self)))
            last = Int(number)
        }
    }
}

extension KeySlot {
    init(
        _ prepared: borrowing PreparedSlot, id: UInt32, createdAt: UInt64
    ) {
        kind = prepared.kind
        reach = prepared.reach
        form = .own
        self.id = id
        self.createdAt = createdAt
        publicKey = prepared.publicKey.bytes
        parameters = prepared.parameters
    }

    /// Creates a slot from its entry in the register, without its wrapped root.
    init(_ listed: RegisteredSlot) {
        kind = listed.kind
        reach = listed.reach
        form = .resealed
        id = listed.id
        createdAt = listed.createdAt
        publicKey = listed.publicKey
        parameters = listed.parameters
    }

    /// Opens the slot.
    ///
    /// - Throws: `CryptoError` `.authenticationFailed` if the secret belongs to another slot, `.lowOrderPoint`.
    func root(_ holder: HolderSecret, vaultID: [UInt8]) throws(CryptoError) -> RootKey {
        guard hasEphemeral else {
            return try holder.withUnsafeBytes { secret throws(CryptoError) in
                try unwrapped(secret, vaultID: vaultID)
            }
        }
        let pair = try holder.pair(vaultID: vaultID)
        guard pair.publicKey.bytes == publicKey else { throw CryptoError(.authenticationFailed, "open slot") }
        let shared = try pair.sharedSecret(with: try X25519.PublicKey(bytes: ephemeral))
        return try shared.withUnsafeBytes { shared throws(CryptoError) in
            try withRecipientSecret(shared, vaultID) { secret throws(CryptoError) in
                try unwrapped(secret, vaultID: vaultID)
            }
        }
    }

    /// Wraps the root for the holder that presented the credential, and sets the form to the kind's own.
    ///
    /// - Parameter trusted: The key by which the holder recognises the vault from now on, if any.
    /// - Throws: `CryptoError` `.lowOrderPoint`.
    mutating func seal(
        _ root: RootKey, for holder: HolderSecret, trusting trusted: [UInt8]?, vaultID: [UInt8]
    ) throws(CryptoError) {
        memoryCode = trusted.map { holder.memoryCode(vaultID: vaultID, trusted: $0) } ?? .zero
        if kind == .recipient { return try reseal(root, as: .own, vaultID: vaultID) }
        form = .own
        ephemeral = []
        holder.withUnsafeBytes { wrap(root, under: $0, vaultID: vaultID) }
    }

    /// Returns whether the holder computed the slot's memory code over one of these keys.
    func isRecognised(by holder: HolderSecret, _ keys: [[UInt8]], vaultID: [UInt8]) -> Bool {
        memoryCode != .zero && keys.contains { holder.memoryCode(vaultID: vaultID, trusted: $0) == memoryCode }
    }

    /// Wraps the root for the holder's public key, without a secret of the holder.
    ///
    /// - Parameter form: `.resealed` in a rekey; `.own` for a new recipient.
    /// - Throws: `CryptoError` `.lowOrderPoint` for a key whose shared secret is public.
    mutating func reseal(_ root: RootKey, as form: Form, vaultID: [UInt8]) throws(CryptoError) {
        self.form = form
        let holder = try X25519.PublicKey(bytes: publicKey)
        let pair = try ephemeralPair(for: root, vaultID)
        ephemeral = pair.publicKey.bytes
        let shared = try pair.sharedSecret(with: holder)
        shared.withUnsafeBytes { shared in
            withRecipientSecret(shared, vaultID) { wrap(root, under: $0, vaultID: vaultID) }
        }
    }

    private func ephemeralPair(for root: RootKey, _ vaultID: [UInt8]) throws(CryptoError) -> X25519.PrivateKey {
        let context = vaultID + preamble + publicKey
        let scalar = ScratchMemory.withSecret(count: FreshInput.size + context.count) { input in
            FreshInput.fill(UnsafeMutableRawBufferPointer(rebasing: input[..<FreshInput.size]))
            UnsafeMutableRawBufferPointer(rebasing: input[FreshInput.size...]).copyBytes(from: context)
            return root.withUnsafeBytes { root in
                SecretBytes(count: X25519.keySize) {
                    BLAKE2b.hash(UnsafeRawBufferPointer(input), key: root, personalization: .ephemeralScalar, into: $0)
                }
            }
        }
        return try X25519.PrivateKey(scalar)
    }

    private func withRecipientSecret<Result: ~Copyable, Failure: Error>(
        _ shared: UnsafeRawBufferPointer, _ vaultID: [UInt8],
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The hash covers both public keys (RFC 7748, section 6.1), because many public keys give the same shared
        // secret.
        let input = ephemeral + publicKey + vaultID
        return try ScratchMemory.withSecret(count: 32) { secret throws(Failure) in
            input.withRawBytes { BLAKE2b.hash($0, key: shared, personalization: .recipientSlot, into: secret) }
            return try body(UnsafeRawBufferPointer(secret))
        }
    }

    /// Lends the slot key and its commitment.
    private func withSlotKey<Result: ~Copyable, Failure: Error>(
        _ secret: UnsafeRawBufferPointer, _ vaultID: [UInt8],
        _ body: (_ key: UnsafeRawBufferPointer, _ commitment: Bytes32) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let input = vaultID + preamble + publicKey + parameters + ephemeral
        return try ScratchMemory.withSecret(count: 64) { derived throws(Failure) in
            input.withRawBytes { BLAKE2b.hash($0, key: secret, personalization: .slotKey, into: derived) }
            return try body(
                UnsafeRawBufferPointer(rebasing: derived[..<32]),
                Bytes32(UnsafeRawBufferPointer(rebasing: derived[32...])))
        }
    }

    private mutating func wrap(_ root: RootKey, under secret: UnsafeRawBufferPointer, vaultID: [UInt8]) {
        let bound = bound(to: vaultID)
        let (wrapped, commitment) = withSlotKey(secret, vaultID) { key, commitment in
            (root.withUnsafeBytes { SecretWrap.wrap($0, under: key, bound: bound) }, commitment)
        }
        wrappedRoot = wrapped
        self.commitment = commitment
    }

    private func unwrapped(_ secret: UnsafeRawBufferPointer, vaultID: [UInt8]) throws(CryptoError) -> RootKey {
        try withSlotKey(secret, vaultID) { key, expected throws(CryptoError) in
            let fits = commitment.withUnsafeBytes { own in
                expected.withUnsafeBytes { ConstantTime.areEqual(own, $0) }
            }
            guard fits else { throw CryptoError(.authenticationFailed, "open slot") }
            return RootKey(
                try SecretBytes(count: RootKey.size) { root throws(CryptoError) in
                    try SecretWrap.unwrap(wrappedRoot[...], under: key, bound: bound(to: vaultID), into: root)
                })
        }
    }
}

/// Short names of public keys, for users to compare.
enum Fingerprint {
    /// Returns the first 16 hexadecimal digits of a hash.
    static func text(of key: [UInt8]) -> String {
        let hash = BLAKE2b.hash(key, personalization: .fingerprint, count: 16)
        return hash.prefix(8).withUnsafeBytes { $0.hexadecimal }
    }
}
