"""The documented sections of config.json, one class each; a plugin names those it reads in ``Plugin.blocks``."""
