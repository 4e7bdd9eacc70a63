// A program that uses the store names groups, homes and credentials as well: one import is enough.
@_exported public import AppGroups
@_exported public import KeyVault
@_exported public import PropertyLists
@_exported public import SharedFiles
