internal import CryptoPrimitives

/// What a passphrase slot says in clear: salt 16, Argon2id passes 4, memory in KiB 4.
struct PassphraseParameters: Sendable {
    static let size = Argon2id.saltSize + 8

    let salt: [UInt8]
    let costs: Argon2id.Parameters

    init(fresh costs: Argon2id.Parameters) {
        salt = SecureRandom.bytes(count: Argon2id.saltSize)
        self.costs = costs
    }

    /// - Throws: `CryptoError` `.parameterOutOfRange`, also for costs beyond the bounds.
    init(parsing bytes: ArraySlice<UInt8>) throws(CryptoError) {
        guard bytes.count == Self.size else { throw CryptoError(.parameterOutOfRange, "Argon2id") }
        func number(at offset: Int) -> UInt32 {
            bytes.dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        salt = Array(bytes.prefix(Argon2id.saltSize))
        costs = Argon2id.Parameters(
            passes: number(at: Argon2id.saltSize), memoryKiB: number(at: Argon2id.saltSize + 4))
        try costs.validate()
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(salt)
        writer.append(costs.passes)
        writer.append(costs.memoryKiB)
        return writer.bytes
    }

    func key(_ passphrase: Passphrase) throws(CryptoError) -> SecretBytes {
        try salt.withRawBytes { salt throws(CryptoError) in
            try Argon2id.deriveKey(passphrase: passphrase.bytes, salt: salt, parameters: costs, count: 32)
        }
    }
}

/// Opens passphrase slots, each at the costs that it states.
struct PassphraseOpener: SlotOpener {
    let passphrase: Passphrase

    var kind: SlotKind { .passphrase }
    var mismatch: VaultError.Code { .wrongPassphrase }

    func work(for parameters: ArraySlice<UInt8>) throws(CryptoError) -> SlotWork {
        SlotWork(try PassphraseParameters(parsing: parameters).costs)
    }

    func unwrappingKey(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) throws(CryptoError) -> SecretBytes {
        try PassphraseParameters(parsing: parameters).key(passphrase)
    }
}

/// Makes passphrase slots.
struct PassphraseMaker: SlotMaker {
    let passphrase: Passphrase
    let costs: PassphraseCosts

    var kind: SlotKind { .passphrase }
    var reach: SlotReach { .whenUnlocked }

    func wrappingKey(vaultID: [UInt8]) throws(VaultError) -> WrappingKey {
        let parameters = PassphraseParameters(fresh: costs.parameters)
        let key = try VaultError.making(kind) { () throws(CryptoError) in try parameters.key(passphrase) }
        return WrappingKey(parameters: parameters.encoded, key: key)
    }
}
