"""Mistake-driven online learning for any prediction problem."""
