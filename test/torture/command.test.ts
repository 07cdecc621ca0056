/** Tests of the command `npm run torture`: help and errors. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const torture = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, '../../scripts/torture.ts'), ...args], { encoding: 'utf8' })

test('--help lists targets and flags', () => {
  const { status, stdout, stderr } = torture('--help')
  assert.equal(stderr, '')
  assert.equal(status, 0)
  for (const word of ['store', 'api', '--cancel', '--etcd', '--faults', '--seed', '--hours', '--minutes', '--rounds'])
    assert.ok(stdout.includes(word), word)
})

test('unknown flags, targets and numbers are errors of one line', () => {
  for (const args of [
    ['--colour'],
    ['dance'],
    ['api', 'store'],
    ['--hours', 'two'],
    ['--cancel', 'api'],
    ['--cancel', '--seed', 'x'],
  ]) {
    const { status, stdout, stderr } = torture(...args)
    assert.equal(status, 2, args.join(' '))
    assert.equal(stdout, '')
    assert.match(stderr, /^.+; npm run torture -- --help lists the flags\n$/, args.join(' '))
  }
})
