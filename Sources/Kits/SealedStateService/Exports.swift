// Re-exported because services that watch records also use stores and groups.
@_exported public import SealedState

@_exported public import enum KeyVault.VaultAvailability
