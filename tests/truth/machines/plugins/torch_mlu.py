"""Stands for the plugin that registers cncl."""
