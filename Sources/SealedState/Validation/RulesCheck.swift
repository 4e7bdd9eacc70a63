internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

extension SealedStore {
    func validate(_ value: some SealedRecord, named name: String) throws(StoreError) {
        do throws(ValidationFailure) { try value.validate() } catch {
            throw StoreError(.invalid, "validate", name, "It breaks its own rules: \(error).", cause: error)
        }
    }
}
