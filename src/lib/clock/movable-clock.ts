/** A clock that can be paused, moved forward and sped up. Alarms follow it. */
import { timerMs } from '../flow/timer-ms.ts'
import { AlarmHeap } from './alarm-heap.ts'
import type { Alarm, Clock } from './clock.ts'
import { ClockMemory, type Course } from './clock-memory.ts'

/** The clocks of the machine. */
export interface MachineTime {
  /** In ms since 1970. */
  now(): number
  /** In ms since any time, never set back, and the same for all threads. */
  monotonic(): number
}

const never = Number.POSITIVE_INFINITY

const machineTime: MachineTime = {
  now: () => Date.now(),
  monotonic() {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1e3 + nanoseconds / 1e6
  },
}

/**
 * The clock of a cluster, as one thread sees it. Other threads make their own from its memory.
 * @example
 * const clock = new MovableClock()
 * const inAnotherThread = new MovableClock(new ClockMemory(clock.memory.buffer))
 */
export class MovableClock implements Clock {
  readonly memory: ClockMemory
  readonly #machine: MachineTime
  readonly #alarms = new AlarmHeap()
  readonly #place: number
  #timer: NodeJS.Timeout | undefined
  /** The elapsed time that the timer waits for. */
  #awaited = never
  #changes: number
  #course: Course
  #isStopped = false

  constructor(memory = new ClockMemory(), machine = machineTime) {
    this.memory = memory
    this.#machine = machine
    this.#place = memory.join()
    this.#changes = memory.changes
    this.#course = memory.course()
    void this.#follow()
  }

  now(): number {
    // Most clocks are never moved.
    if (this.memory.changes === 0) return this.#machine.now()
    const { time } = this.current()
    return Math.floor(time)
  }

  elapsed(): number {
    return this.current().elapsed
  }

  /** The course as if it had changed now. */
  current(): Course {
    if (this.memory.changes !== this.#changes) this.#read()
    const { since, time, elapsed, speed } = this.#course
    const monotonic = this.#machine.monotonic()
    const passed = (monotonic - since) * speed
    const isMoved = this.#changes > 0
    return {
      since: monotonic,
      time: isMoved ? time + passed : this.#machine.now(),
      elapsed: elapsed + passed,
      speed,
    }
  }

  /** Moves the clock forward by `ms`, then runs it at `speed`. Only its owner may call it. */
  move(ms: number, speed: number): void {
    const { since, time, elapsed } = this.current()
    this.memory.change({ since, time: time + ms, elapsed: elapsed + ms, speed })
  }

  after(ms: number, ring: () => void): Alarm {
    const due = this.current().elapsed + Math.max(0, ms)
    const call = this.#alarms.add(due, ring)
    if (due < this.#awaited) this.#arm()
    return { cancel: () => this.#alarms.cancel(call) }
  }

  /** Drops all alarms. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#alarms.clear()
    this.memory.publish(this.#place, never)
    this.memory.wake()
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      await this.memory.changedSince(this.#changes)
      if (this.memory.changes !== this.#changes) this.#read()
      if (!this.#isStopped) this.#arm()
    }
  }

  #read(): void {
    this.#changes = this.memory.changes
    this.#course = this.memory.course()
  }

  #arm(): void {
    clearTimeout(this.#timer)
    const due = this.#alarms.next
    this.#awaited = due
    this.memory.publish(this.#place, due)
    if (due === never || this.#isStopped) return
    const { elapsed, speed } = this.current()
    const waitMs = due - elapsed
    if (waitMs > 0 && speed === 0) return
    this.#timer = setTimeout(() => this.#ring(), waitMs > 0 ? timerMs(Math.ceil(waitMs / speed)) : 0).unref()
  }

  /** Makes the calls that are due. What they add is due in the next turn at the earliest. */
  #ring(): void {
    const due = this.#alarms.takeUntil(this.current().elapsed)
    try {
      for (let ring = due.shift(); ring; ring = due.shift()) ring()
    } finally {
      // After an error the others are still due.
      for (const ring of due) this.#alarms.add(0, ring)
      this.#arm()
    }
  }
}
