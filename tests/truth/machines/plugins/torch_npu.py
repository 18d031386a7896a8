"""In place of the plugin for Ascend devices: the recorder sees whether it was imported."""
