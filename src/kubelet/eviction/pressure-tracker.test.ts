import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Observations } from './observations.ts'
import { PressureTracker } from './pressure-tracker.ts'
import type { Threshold } from './thresholds.ts'

const memory: Threshold = { signal: 'memory.available', value: { quantity: '100' }, graceMs: 0 }
const soft: Threshold = { signal: 'memory.available', value: { quantity: '200' }, graceMs: 60_000 }
const disk: Threshold = {
  signal: 'nodefs.available',
  value: { part: 0.1 },
  graceMs: 0,
  minReclaim: { quantity: '50' },
}
const processes: Threshold = { signal: 'pid.available', value: { quantity: '10' }, graceMs: 0 }

const observe = (amounts: Partial<Record<Threshold['signal'], number>>): Observations =>
  new Map(
    Object.entries(amounts).map(([signal, available]) => [
      signal as Threshold['signal'],
      { available, capacity: 1000 },
    ]),
  )

/** Each step: the time in s, the amounts, the conditions, and the signals of thresholds to act on. */
type Step = readonly [number, Parameters<typeof observe>[0], readonly string[], readonly Threshold[]]

const cases: readonly (readonly [title: string, thresholds: readonly Threshold[], steps: readonly Step[]])[] = [
  [
    'a condition lasts for the transition period',
    [memory],
    [
      [0, { 'memory.available': 100 }, [], []],
      [10, { 'memory.available': 99 }, ['MemoryPressure'], [memory]],
      [20, { 'memory.available': 100 }, ['MemoryPressure'], []],
      [309, { 'memory.available': 500 }, ['MemoryPressure'], []],
      [310, { 'memory.available': 500 }, [], []],
    ],
  ],
  [
    'a soft threshold must be crossed for its whole grace period',
    [soft],
    [
      [0, { 'memory.available': 150 }, ['MemoryPressure'], []],
      [59, { 'memory.available': 150 }, ['MemoryPressure'], []],
      [60, { 'memory.available': 150 }, ['MemoryPressure'], [soft]],
      [70, { 'memory.available': 250 }, ['MemoryPressure'], []],
      [80, { 'memory.available': 150 }, ['MemoryPressure'], []],
    ],
  ],
  [
    'a crossed threshold holds until its minimum is reclaimed',
    [disk],
    [
      [0, { 'nodefs.available': 120 }, [], []],
      [10, { 'nodefs.available': 90 }, ['DiskPressure'], [disk]],
      [20, { 'nodefs.available': 149 }, ['DiskPressure'], [disk]],
      [30, { 'nodefs.available': 150 }, ['DiskPressure'], []],
    ],
  ],
  [
    'memory comes first',
    [disk, processes, memory],
    [
      [
        0,
        { 'nodefs.available': 1, 'pid.available': 1, 'memory.available': 1 },
        ['DiskPressure', 'PIDPressure', 'MemoryPressure'],
        [memory, disk, processes],
      ],
    ],
  ],
  ['a signal without an observation is ignored', [memory], [[0, { 'pid.available': 1 }, [], []]]],
]

for (const [title, thresholds, steps] of cases)
  test(`pressure: ${title}`, () => {
    const tracker = new PressureTracker(300_000)
    for (const [seconds, amounts, conditions, due] of steps)
      assert.deepEqual(
        tracker.update(thresholds, observe(amounts), seconds * 1000),
        { conditions, thresholds: due },
        `after ${seconds} s`,
      )
  })
