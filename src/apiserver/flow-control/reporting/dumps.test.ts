import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tabulate } from './dumps.ts'

test("tables have the same layout as upstream's", () => {
  assert.equal(
    tabulate([
      ['PriorityLevelName', 'Index', 'Last'],
      ['system', '0', 'x'],
    ]),
    'PriorityLevelName, Index,  Last\nsystem,            0,      x\n',
  )
})
