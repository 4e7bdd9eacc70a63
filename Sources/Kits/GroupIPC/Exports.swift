// A program that talks to others of its group names groups and containers as well: one import is enough.
@_exported public import AppGroups
