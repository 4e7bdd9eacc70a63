// Re-exported because tests of records also use their stores.
@_exported public import SealedState
