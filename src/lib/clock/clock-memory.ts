/**
 * The state of a movable clock, in memory that threads share. One thread, the owner, moves the clock; the others read
 * it and are woken when it moves. Each thread publishes when its next alarm is due, so that the owner can move the
 * clock from one alarm to the next.
 *
 * Layout: two 32-bit integers (the number of changes, doubled, and odd while one is written; the number of threads),
 * then 64-bit numbers: four for the course, and the next alarm of each thread.
 */

/** The course of a clock since its last change. */
export interface Course {
  /** When it changed, in ms of the machine's monotonic clock. */
  readonly since: number
  /** The time that it showed then, in ms since 1970. */
  readonly time: number
  /** The time that had passed on it until then, in ms. Alarms are due by this, which no correction of `time` moves. */
  readonly elapsed: number
  /** 1 is the speed of the machine's clock; 0 is a paused clock. */
  readonly speed: number
}

/** Threads that follow a clock. Later ones share the last place. */
const maxThreads = 32
const integers = 2
const courseNumbers = 4
const bytes = 4 * integers + 8 * (courseNumbers + maxThreads)

export class ClockMemory {
  /** To pass to another thread, which gives it to the constructor. */
  readonly buffer: SharedArrayBuffer
  readonly #counts: Int32Array
  readonly #course: Float64Array
  readonly #due: Float64Array

  /** Without a buffer, the memory of a new clock, which runs as the machine's. */
  constructor(buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(bytes)
    this.#counts = new Int32Array(this.buffer, 0, integers)
    this.#course = new Float64Array(this.buffer, 4 * integers, courseNumbers)
    this.#due = new Float64Array(this.buffer, 4 * integers + 8 * courseNumbers, maxThreads)
    if (buffer) return
    this.#course[3] = 1
    this.#due.fill(Number.POSITIVE_INFINITY)
  }

  /** The number of changes so far; 0 for a clock that shows the time of the machine. */
  get changes(): number {
    return Atomics.load(this.#counts, 0) >> 1
  }

  /** The current course. Repeats the read while a change is being written. */
  course(): Course {
    for (;;) {
      const before = Atomics.load(this.#counts, 0)
      const [since = 0, time = 0, elapsed = 0, speed = 1] = this.#course
      if (before % 2 === 0 && Atomics.load(this.#counts, 0) === before) return { since, time, elapsed, speed }
    }
  }

  /** Changes the course and wakes all threads. Only the owner may call it. */
  change({ since, time, elapsed, speed }: Course): void {
    Atomics.add(this.#counts, 0, 1)
    this.#course.set([since, time, elapsed, speed])
    Atomics.add(this.#counts, 0, 1)
    this.wake()
  }

  /** Wakes all threads that wait for a change. */
  wake(): void {
    Atomics.notify(this.#counts, 0)
  }

  /** Resolves if the clock has changed since `changes`, or when it is woken. Does not keep the process running. */
  async changedSince(changes: number): Promise<void> {
    const waiting = Atomics.waitAsync(this.#counts, 0, changes << 1)
    if (waiting.async) await waiting.value
  }

  /** Takes a place for the alarms of one thread. */
  join(): number {
    return Math.min(Atomics.add(this.#counts, 1, 1), maxThreads - 1)
  }

  /** Publishes when the next alarm of a thread is due, in ms as `elapsed`; Infinity for none. */
  publish(place: number, due: number): void {
    this.#due[place] = due
  }

  /** When the next alarm after `elapsed` is due in any thread; Infinity for none. */
  nextDueAfter(elapsed: number): number {
    return Math.min(...this.#due.filter((due) => due > elapsed))
  }
}
