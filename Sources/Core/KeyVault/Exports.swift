// Users of KeyVault need the types for groups, homes, sharing and secret bytes as well.
@_exported public import AppGroups
@_exported public import CryptoPrimitives
@_exported public import SharedFiles
