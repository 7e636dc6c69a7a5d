"""What a run tells about itself. Nothing but the interface imports this room.

banner      the head of the log
forecast    what is left to do
log         the table of iterations and the summary
bar            the progress bar, in terminals and notebooks
finished    a finished run, with the model's names and sign
certified   what is certified of its point
two_stage    log and certificate of a run with recourse; gap_plot, its picture
plot        a picture of the run
"""
