import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { statOf, textOf } from './processes.ts'
import { spawnDetached } from './spawn-detached.ts'

const skip = process.platform !== 'linux'

test('a program runs in a session of its own, without streams, and leaves no zombie', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-spawn-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'out')
  const script = `readlink /proc/$$/fd/0 >"$1"; echo "$2" >>"$1"; read -r line <"$1.gate"`
  const pid = spawnDetached(['/bin/sh', '-c', `mkfifo "$1.gate"; ${script}`, 'sh', file, 'ä b'])
  while (!textOf(file).includes('ä b')) await delay(5)
  assert.equal(readFileSync(file, 'utf8'), '/dev/null\nä b\n')
  assert.equal(statOf(pid)?.session, pid)
  process.kill(pid)
  while (statOf(pid)) await delay(20)
})

test('a program that does not exist is an error', { skip }, () => {
  assert.throws(() => spawnDetached(['/no/such/program']), /cannot start \/no\/such\/program: error 2/)
})
