import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const skip = process.platform !== 'linux' && 'it reads /proc'

test('a process that a file of tests leaves is ended and named, and does not hold up the runner', { skip }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-left-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'forgetful.test.ts'),
    `import { spawn } from 'node:child_process'
    import { test } from 'node:test'
    test('forgets', () => spawn('sleep', ['61'], { stdio: 'inherit', detached: true }).unref())`,
  )
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const started = performance.now()
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--import', join(import.meta.dirname, 'mark-processes.ts'), '--test', '--test-reporter=tap', 'forgetful.test.ts'],
    { cwd: folder, env, encoding: 'utf8', timeout: 50_000 },
  )
  assert.equal(status, 0, stdout)
  assert.match(stdout, /left running by forgetful\.test\.ts, and ended: sleep 61/)
  assert.ok(performance.now() - started < 50_000)
})
