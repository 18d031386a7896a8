"""Stands for the plugin that registers hccl."""
