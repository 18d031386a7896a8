"""Stands for the plugin that registers mccl."""
