"""A drill: sessions become facts while something is broken, again and again, and in the end everything is counted.

    stage.py      what a drill takes place on: a server, processes that work, and how far they are
    process.py    the program of those processes; crew.py starts, kills and stops them
    producer.py   publishes the sessions, as a producer that never gives up does
    fault.py      what a way to break something is; those there are stand in faults/
    drive.py      the drill itself: moments and victims drawn from a seed
    report.py     what the stores, streams and books say when all is over, and the table that shows it

Everything is drawn from the seed that a drill prints, but for what the machine decides: which process is how far.
"""
