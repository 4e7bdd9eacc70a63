// The types that the store's signatures name, and that a program needs to call them: one import is enough. Single
// types, since a whole module would add dozens that no program of a store needs; a `typealias` would hide their members
// from clients with MemberImportVisibility. `.ci/lint` counts the visible types.
@_exported public import struct AppGroups.AppGroup
@_exported public import struct AppGroups.AppGroupError
@_exported public import enum AppGroups.EntitlementPolicy
@_exported public import struct AppGroups.Entitlements
@_exported public import struct AppGroups.GroupsHome
@_exported public import struct KeyVault.EpochHolder
@_exported public import class KeyVault.Identity
@_exported public import class KeyVault.Passphrase
@_exported public import enum KeyVault.ProtectionClass
@_exported public import struct KeyVault.TeamPublicKey
@_exported public import enum KeyVault.VaultCredential
@_exported public import struct KeyVault.VaultError
@_exported public import enum KeyVault.WatermarkCondition
@_exported public import class KeyVault.WriterKey
@_exported public import struct PropertyLists.PropertyListDate
@_exported public import enum PropertyLists.PropertyListValue
@_exported public import enum SharedFiles.Durability
@_exported public import struct SharedFiles.ErrorDetails
@_exported public import struct SharedFiles.FileError
@_exported public import protocol SharedFiles.StructuredError
