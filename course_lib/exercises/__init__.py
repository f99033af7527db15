"""The exercises, one file per notebook; exercise.py says what an exercise is."""

from course_lib.exercises import (
    attention_and_rnn,
    attention_scores,
    matrix_form,
    multi_head,
    queries_keys_values,
    softmax,
    start_here,
    weighted_sum,
    why_the_whole_sequence,
)

EXERCISES = {
    **start_here.EXERCISES,
    **why_the_whole_sequence.EXERCISES,
    **queries_keys_values.EXERCISES,
    **attention_scores.EXERCISES,
    **softmax.EXERCISES,
    **weighted_sum.EXERCISES,
    **matrix_form.EXERCISES,
    **multi_head.EXERCISES,
    **attention_and_rnn.EXERCISES,
}
