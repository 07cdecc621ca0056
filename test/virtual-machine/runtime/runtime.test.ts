/** Pods of `t8s runtime` on a machine with cgroup v2, AppArmor and all capabilities. */
import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeTestImages } from '../../kubelet/support/runtimes/test-images.ts'
import { copyKoffi, copyProgram, repository } from '../disk/root-disk.ts'
import { runMachine, skipReason } from '../run-machine.ts'

const programs = ['apparmor_parser', 'crun', 'runc']
const skip = skipReason(programs)

/** For all: `T8S_MACHINE_EXECUTORS='crun runc shell'`. It is slow. */
const executors = process.env.T8S_MACHINE_EXECUTORS ?? 'crun shell'

function addFiles(folder: string): void {
  for (const program of programs) copyProgram(folder, program)
  for (const path of ['/etc/apparmor/parser.conf', '/usr/share/apparmor-features'])
    cpSync(path, join(folder, path), { recursive: true })
  const target = join(folder, 'opt/t8s')
  cpSync(join(repository, '.build'), join(target, '.build'), { recursive: true })
  copyKoffi(target)
  writeFileSync(join(folder, 'executors'), executors)
  writeTestImages(folder)
}

test('the runtime has limits of cgroup v2 and confines by AppArmor', { skip }, async () => {
  const checks = join(import.meta.dirname, 'checks.ts')
  const output = await runMachine({ checks, addFiles, megabytes: 1024, timeoutMs: 400_000 })
  assert.match(output, /^checks ended with 0\r?$/m, output)
})
