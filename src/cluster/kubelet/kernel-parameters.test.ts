import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { prepareKernel } from './kernel-parameters.ts'

function machineOf(t: TestContext, values: Record<string, string>): { root: string; value: (name: string) => string } {
  const root = `${mkdtempSync(join(tmpdir(), 't8s-kernel-'))}/`
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'proc/sys/kernel/keys'), { recursive: true })
  mkdirSync(join(root, 'proc/sys/vm'))
  for (const [name, value] of Object.entries(values)) writeFileSync(join(root, 'proc/sys', name), `${value}\n`)
  return { root, value: (name) => readFileSync(join(root, 'proc/sys', name), 'utf8').trim() }
}

test('parameters of the kernel that differ are set and logged', (t) => {
  const { root, value } = machineOf(t, { 'vm/overcommit_memory': '0', 'kernel/panic': '10' })
  const lines: string[] = []
  prepareKernel(false, (line) => void lines.push(line), root)
  assert.deepEqual([value('vm/overcommit_memory'), value('kernel/panic')], ['1', '10'])
  assert.deepEqual(lines, ['Updating kernel flag vm/overcommit_memory: expected value 1, actual value 0'])
})

test('protected parameters stay, and those that differ are errors', (t) => {
  const { root, value } = machineOf(t, { 'vm/overcommit_memory': '0', 'vm/panic_on_oom': '1' })
  assert.throws(() => prepareKernel(true, () => {}, root), {
    name: 'ExplainedError',
    message:
      /\[invalid kernel flag: vm\/overcommit_memory, expected value: 1, actual value: 0, invalid kernel flag: vm\/pan/,
  })
  assert.equal(value('vm/overcommit_memory'), '0')
  prepareKernel(true, () => {}, machineOf(t, { 'vm/overcommit_memory': '1' }).root)
})
