// A program that coordinates access names groups and containers as well: one import is enough.
@_exported public import AppGroups
