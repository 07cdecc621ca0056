import assert from 'node:assert/strict'
import test from 'node:test'
import { logOptionErrors } from './pod-streams.ts'

const rows: readonly (readonly [query: string, wrong: readonly string[]])[] = [
  ['tailLines=0&limitBytes=1&sinceSeconds=1', []],
  ['tailLines=-1', ['tailLines: Invalid value: -1: must be greater than or equal to 0']],
  ['limitBytes=0', ['limitBytes: Invalid value: 0: must be greater than 0']],
  ['sinceSeconds=0', ['sinceSeconds: Invalid value: 0: must be greater than 0']],
  [
    'sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
    [': Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'],
  ],
  ['stream=All&tailLines=1', []],
  ['stream=Stdout', []],
  ['stream=Stderr&tailLines=1', [': Forbidden: `tailLines` and specific `stream` are mutually exclusive for now']],
  ['stream=stdout', ['stream: Unsupported value: "stdout": supported values: "All", "Stderr", "Stdout"']],
]

for (const [query, wrong] of rows)
  test(`log options: ${query}`, () => {
    const errors = logOptionErrors(new URLSearchParams(query))
    assert.deepEqual(
      errors.map(({ field, message }) => `${field}: ${message}`),
      wrong,
    )
  })
