"""Stands for the plugin that registers tccl."""
