import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

/** A store in which a write fails in this program's own code, after the disk has accepted it. */
const script = `
  import { GroupCommit } from '${import.meta.resolve('./group-commit.ts')}'
  import { surviveErrors } from '${import.meta.resolve('../../../lib/process/unhandled-errors.ts')}'
  surviveErrors((line) => console.log(line))
  const log = { directory: '/data', lost: false, append: async () => ({ segment: {}, position: 0 }) }
  const listener = {
    durable() { throw new TypeError('internal error') },
    announce() {},
    failed() {},
  }
  const commits = new GroupCommit(log, listener, 1000)
  void commits.add([{ key: '/a', revision: 1, value: Buffer.from('a') }])
  setTimeout(() => console.log('still running'), 2000)`

test('an internal error during a write ends even a process that survives errors', () => {
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  assert.match(stdout, /^the process ends: FatalError: the store in \/data cannot be trusted any more/)
  assert.match(stdout, /caused by TypeError: internal error\n {4}at /)
  assert.doesNotMatch(stdout, /still running/)
})
