import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Profile } from 'pprof-format'
import { cpuProfile, samplesOf as cpuSamples } from './cpu.ts'
import { heapProfile, samplesOf as heapSamples } from './heap.ts'
import { encodeProfile, type StackSample } from './profile.ts'

const frame = (functionName: string, lineNumber = 9) => ({
  functionName,
  scriptId: '1',
  url: 'file:///a/b.js',
  lineNumber,
  columnNumber: 0,
})
const named = ({ stack, values }: StackSample) => [
  stack.map(({ frame: { functionName }, line }) => `${functionName}${line ? `:${line}` : ''}`).join(' < '),
  ...values,
]

test('a CPU profile becomes stacks with lines, without idle time', () => {
  const nodes = [
    { id: 1, callFrame: frame('(root)'), children: [2, 5] },
    { id: 2, callFrame: frame('main'), hitCount: 1, children: [3] },
    { id: 3, callFrame: frame('work'), hitCount: 3, positionTicks: [{ line: 12, ticks: 2 }] },
    { id: 5, callFrame: frame('(idle)'), hitCount: 4 },
  ]
  const samples = [2, 3, 3, 5, 5, 3, 5, 5]
  const timeDeltas = [10, 20, 20, 1000, 1000, 20, 1000, 1000]
  assert.deepEqual([...cpuSamples({ nodes, startTime: 0, endTime: 4070, samples, timeDeltas })].map(named), [
    ['main', 1, 10_000],
    ['work:12 < main', 2, 40_000],
    ['work < main', 1, 20_000],
  ])
})

test('a heap profile becomes stacks with bytes', () => {
  const leaf = { callFrame: frame('make'), selfSize: 300, id: 3, children: [] }
  const head = {
    callFrame: frame('(root)'),
    selfSize: 7,
    id: 1,
    children: [{ callFrame: frame('main'), selfSize: 0, id: 2, children: [leaf] }],
  }
  assert.deepEqual([...heapSamples(head, [])].map(named), [
    ['(root)', 7],
    ['make < main', 300],
  ])
})

test('functions and locations are deduplicated', () => {
  const stack = [{ frame: frame('work'), line: 12 }, { frame: frame('', 0) }]
  const bytes = encodeProfile({
    measures: [{ type: 'cpu', unit: 'nanoseconds' }],
    samples: [
      { stack, values: [5] },
      { stack, values: [7] },
    ],
    period: 10,
    periodMeasure: { type: 'cpu', unit: 'nanoseconds' },
    begunAt: 1_000,
    durationMs: 2_000,
  })
  const {
    sample,
    function: functions,
    location,
    stringTable,
    timeNanos,
    durationNanos,
  } = Profile.decode(gunzipSync(bytes))
  assert.deepEqual([sample.length, functions.length, location.length], [2, 2, 2])
  assert.deepEqual(
    functions.map(({ name, filename, startLine }) => [
      stringTable.strings[Number(name)],
      stringTable.strings[Number(filename)],
      Number(startLine),
    ]),
    [
      ['work', '/a/b.js', 10],
      ['(anonymous)', '/a/b.js', 1],
    ],
  )
  assert.deepEqual([Number(timeNanos), Number(durationNanos)], [1e9, 2e9])
})

test('concurrent profiles of one kind are rejected, and an aborted one ends immediately', async () => {
  const aborted = AbortSignal.abort()
  const first = cpuProfile(600_000, aborted)
  await assert.rejects(cpuProfile(1), { name: 'ProfilingInUseError', message: 'cpu profiling already in use' })
  assert.ok((await first).length > 0)
  assert.ok((await cpuProfile(1)).length > 0)
  assert.ok((await heapProfile({ of: 'all', durationMs: 1, collect: true })).length > 0)
})
