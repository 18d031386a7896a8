"""Stands for the plugin that registers neuron."""
