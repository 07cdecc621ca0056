import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { runChecks } from './run-checks.ts'

const missing = ['qemu-system-x86_64', 'apparmor_parser', 'crun', 'runc', 'mke2fs'].find(
  (program) => spawnSync(program, ['--version']).error,
)
const skip = missing ? `${missing} is not installed` : false

/** For all: `T8S_MACHINE_EXECUTORS='crun runc shell'`. It is slow. */
const executors = (process.env.T8S_MACHINE_EXECUTORS ?? 'crun shell').split(' ')

test('the runtime has limits of cgroup v2 and confines by AppArmor', { skip }, async () => {
  const output = await runChecks(executors, 400_000)
  assert.match(output, /^checks ended with 0\r?$/m, output)
})
