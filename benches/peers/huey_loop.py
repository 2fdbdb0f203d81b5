"""Enqueues tasks, then takes and executes each, as huey's consumer does. Prints how many a second, of both."""

import logging
import sys
import time

from huey import SqliteHuey

file, count = sys.argv[1], int(sys.argv[2])
logging.disable(logging.CRITICAL)
# A commit waits for the disk.
huey = SqliteHuey(filename=file, fsync=True)


@huey.task()
def release(number, body):
    return None


def per_second(work):
    began = time.perf_counter()
    for number in range(count):
        work(number)
    return count / (time.perf_counter() - began)


record = per_second(lambda number: release(number, "x" * 300))
run = per_second(lambda _: huey.execute(huey.dequeue()))
print(record, run)
