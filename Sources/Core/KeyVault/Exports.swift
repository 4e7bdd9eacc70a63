// The types that the vault's signatures name, and those that a program makes to call them.
@_exported public import struct AppGroups.AccessGroup
@_exported public import struct AppGroups.AppGroup
@_exported public import struct AppGroups.AppGroupError
@_exported public import enum AppGroups.EntitlementPolicy
@_exported public import struct AppGroups.Entitlements
@_exported public import struct AppGroups.GroupsHome
@_exported public import struct CryptoPrimitives.CryptoError
@_exported public import struct CryptoPrimitives.SecretBytes
@_exported public import struct SharedFiles.ErrorDetails
@_exported public import struct SharedFiles.FileError
@_exported public import enum SharedFiles.Sharing
@_exported public import protocol SharedFiles.StructuredError
