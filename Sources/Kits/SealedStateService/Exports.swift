// A service that watches records names stores and groups as well: one import is enough.
@_exported public import SealedState

@_exported public import enum KeyVault.VaultAvailability
