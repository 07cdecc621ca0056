import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { test } from 'node:test'

const module = new URL('./output-errors.ts', import.meta.url).href
const survive = new URL('../../lib/process/unhandled-errors.ts', import.meta.url).href
const script = `
  const { surviveOutputErrors } = await import(${JSON.stringify(module)})
  const { surviveErrors } = await import(${JSON.stringify(survive)})
  surviveOutputErrors()
  surviveErrors((line) => { process.stdout.write(line); process.stderr.write(line) })
  process.stdout.write('one')
  setTimeout(() => process.stdout.write('two'), 5)
  setTimeout(() => process.stderr.write('end'), 20)`

/** Runs the script with one of its outputs on a device that is always full. */
function run(full: 'stdout' | 'stderr') {
  const device = openSync('/dev/full', 'w')
  try {
    return spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', full === 'stdout' ? device : 'pipe', full === 'stderr' ? device : 'pipe'],
      encoding: 'utf8',
      timeout: 30_000,
    })
  } finally {
    closeSync(device)
  }
}

test('a full disk below standard output is reported once, and the process continues', () => {
  const { status, stderr } = run('stdout')
  assert.equal(status, 1)
  const [line, ...rest] = stderr.split('\n')
  assert.match(line ?? '', /^t8s: cannot write to standard output: .*no space left.*; what follows is missing there$/)
  assert.deepEqual(rest, ['end'])
})

test('an error of standard error is not reported to standard error without end', () => {
  const { status, stdout } = run('stderr')
  assert.equal(status, 1)
  assert.equal(stdout, 'onetwo')
})
