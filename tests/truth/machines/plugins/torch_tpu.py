"""Stands for the plugin that registers tpu_dist."""
