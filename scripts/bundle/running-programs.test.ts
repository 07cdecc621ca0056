import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { programStarts } from './running-programs.ts'

test('the start times of programs are those of processes that name a file of the build', (t) => {
  const proc = mkdtempSync(join(tmpdir(), 't8s-proc-'))
  t.after(() => rmSync(proc, { recursive: true, force: true }))
  const processes = {
    10: { command: ['node', '/x/.build/t8s.js', 'up'], ticks: 500 },
    11: { command: ['node', '/x/.building/t8s.js'], ticks: 600 },
    12: { command: ['node', '--flag', '/x/.build/t8s.js'], ticks: 700 },
  }
  for (const [pid, { command, ticks }] of Object.entries(processes)) {
    mkdirSync(join(proc, pid))
    writeFileSync(join(proc, pid, 'cmdline'), `${command.join('\0')}\0`)
    writeFileSync(join(proc, pid, 'stat'), `${pid} (a (b) c) S${' 0'.repeat(18)} ${ticks} 0\n`)
  }
  writeFileSync(join(proc, 'stat'), 'cpu 1 2\nbtime 1700000000\n')
  assert.deepEqual(programStarts('/x/.build', proc), [1_700_000_005_000, 1_700_000_007_000])
  assert.equal(programStarts('/x/.build', join(proc, 'missing')), undefined)
})
