"""Stands for the plugin that registers eccl."""
