"""A drill: sessions become facts while something is broken, again and again, and in the end everything is counted.

    stage.py      what a drill takes place on: a server, and processes that work; `Stage`
    system.py     what is drilled: `Nous`; plain.py and plain_work.py are the same work without a fence, beside it
    process.py    the program of those processes; crew.py starts, kills and stops them
    producer.py   publishes the sessions, as a producer that never gives up does
    fault.py      what a way to break something is; each is a class in faults/, found by looking there
    drive.py      the drill itself: moments and victims drawn from a seed
    report.py     what the stores, streams and books say when all is over; table.py shows it

Everything is drawn from the seed that a drill prints, but for what the machine decides: which process is how far.
"""
