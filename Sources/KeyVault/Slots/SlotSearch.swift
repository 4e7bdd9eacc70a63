internal import CryptoPrimitives

/// What a slot gave, and which one it was.
struct OpenedSlot: ~Copyable, Sendable {
    /// Nil for keys that a person unlocked before.
    let id: UInt32?
    let secrets: VaultSecrets

    consuming func takeSecrets() -> VaultSecrets { secrets }
}

/// Looks for the slot that a credential opens.
///
/// A slot that cannot be tried does not end the search for another: it may be another person's, or planted. All slots
/// together cost no more than one slot may, cheap ones first.
struct SlotSearch {
    let slots: [KeySlot]
    let vaultID: [UInt8]
    /// The vault's, for errors.
    let path: String

    private struct Attempt {
        let slot: KeySlot
        let opener: any SlotOpener
        let work: SlotWork
        let order: Int
    }

    /// - Parameter openers: Of one kind; an identity has one for each of its keys.
    /// - Throws: `VaultError`: `.locked` for a vault without a slot of that kind; the mismatch of the credential; what kept
    ///   a slot from being tried where none opened: `.corrupt`, `.outOfMemory`, `.tooCostly`.
    func open(with openers: [any SlotOpener]) throws(VaultError) -> OpenedSlot {
        guard let first = openers.first, hasSlot(of: first.kind) else { throw locked(openers.first?.kind) }
        var refusal: VaultError?
        var spent = SlotWork.negligible
        for attempt in attempts(with: openers, &refusal) {
            guard spent + attempt.work <= .maximum else {
                refusal = refusal ?? tooCostly(attempt.slot)
                break
            }
            spent = spent + attempt.work
            do throws(CryptoError) {
                return OpenedSlot(id: attempt.slot.id, secrets: try attempt.opener.open(attempt.slot, vaultID: vaultID))
            } catch {
                if error.code != .authenticationFailed { refusal = refusal ?? self.refusal(error, attempt.slot) }
            }
        }
        throw refusal ?? VaultError(first.mismatch, "open the vault", path, "No \(first.kind) slot opens with it.")
    }

    /// What it costs at most to try every passphrase slot.
    var totalWork: SlotWork {
        slots.filter { $0.kind == .passphrase }.reduce(.negligible) { sum, slot in
            let parameters = try? PassphraseParameters(parsing: slot.payload.prefix(slot.kind.parameterSize))
            return sum + (parameters.map { SlotWork($0.costs) } ?? .negligible)
        }
    }

    func hasSlot(of kind: SlotKind) -> Bool { slots.contains { $0.kind == kind } }

    private func attempts(with openers: [any SlotOpener], _ refusal: inout VaultError?) -> [Attempt] {
        var attempts: [Attempt] = []
        for slot in slots {
            for opener in openers where opener.kind == slot.kind {
                do throws(CryptoError) {
                    let work = try opener.work(for: slot.payload.prefix(slot.kind.parameterSize))
                    attempts.append(Attempt(slot: slot, opener: opener, work: work, order: attempts.count))
                } catch {
                    refusal = refusal ?? self.refusal(error, slot)
                }
            }
        }
        return attempts.sorted { ($0.work, $0.order) < ($1.work, $1.order) }
    }
}

extension SlotSearch {
    /// Nothing that was presented fits this vault's kinds of slots.
    ///
    /// - Parameter kind: Of what was presented; nil for nothing.
    func locked(_ kind: SlotKind?) -> VaultError {
        let missing = kind.map { "It has no \($0) slot; it opens with: \(kinds)." } ?? "It opens with: \(kinds)."
        return VaultError(
            .locked, "open the vault", path, missing,
            advice: "Give the \(kinds) that opens it, or unlock it; no new key is made meanwhile.")
    }

    /// The words for what opens this vault.
    var kinds: String {
        SlotKind.allCases.filter(hasSlot).map(\.opener).joined(separator: ", ")
    }

    private func refusal(_ error: CryptoError, _ slot: KeySlot) -> VaultError {
        let others = "no other \(slot.kind) slot opens with what was given."
        switch error.code {
        case .outOfMemory:
            return VaultError(
                .outOfMemory, "open the vault", path,
                "The memory that slot \(slot.id) asks for cannot be had, and \(others)",
                advice: "Free memory, or open it with another slot.")
        case .lowOrderPoint:
            return .corrupt(path, "Slot \(slot.id) holds a key that everybody can guess, and \(others)")
        default:
            return .corrupt(path, "Slot \(slot.id) asks for costs outside the bounds, and \(others)")
        }
    }

    private func tooCostly(_ slot: KeySlot) -> VaultError {
        VaultError(
            .tooCostly, "open the vault", path,
            "From slot \(slot.id) on its \(slot.kind) slots were not tried: together they cost more than one slot may.",
            advice: "Open it with something else and remove the costly slots.")
    }
}

extension VaultError.Code {
    /// The system credential is intact and opens no slot.
    public static let wrongCredential = VaultError.Code(rawValue: "wrongCredential")
    /// The key slots together cost more to try than one slot may.
    public static let tooCostly = VaultError.Code(rawValue: "tooCostly")
}
