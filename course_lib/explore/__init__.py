"""The live panels, one file per notebook; panel.py is the machine behind them."""

from course_lib.explore.attention_and_rnn import race
from course_lib.explore.attention_scores import scale
from course_lib.explore.matrix_form import order
from course_lib.explore.multi_head import heads
from course_lib.explore.queries_keys_values import qkv
from course_lib.explore.softmax import normalizers
from course_lib.explore.start_here import sentence
from course_lib.explore.weighted_sum import hull
from course_lib.explore.why_the_whole_sequence import reach

__all__ = ["heads", "hull", "normalizers", "order", "qkv", "race", "reach", "scale", "sentence"]
