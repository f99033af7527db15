"""The live panels, one file per notebook; panel.py is the machine behind them."""

from course_lib.explore.queries_keys_values import qkv

__all__ = ["qkv"]
