import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import type { OciDeviceRule } from '../../../spec/oci-spec.ts'
import { errorInLog } from '../program/program-error.ts'
import { ProgramWriter } from '../program/program-writer.ts'
import { limitDevices } from './limit-devices.ts'
import { joinCgroups } from './start-program.ts'

const denyAll: OciDeviceRule = { allow: false, access: 'rwm' }
/** `/dev/kmsg`. */
const kernelLog = { allow: true, type: 'c', major: 1, minor: 11 } as const

/** Tries to read and to write `/dev/kmsg`, and to read `/dev/zero`. */
const script = `
true </dev/kmsg && echo read
true 2>/dev/null >/dev/kmsg && echo write
head -c 3 /dev/zero | wc -c
`

test('a program of BPF limits the devices of a cgroup v2', { skip: process.getuid?.() !== 0 && 'needs root' }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-devices-'))
  const mount = join(folder, 'cgroup')
  mkdirSync(mount)
  execFileSync('mount', ['-t', 'cgroup2', 'none', mount])
  t.after(() => {
    execFileSync('umount', [mount])
    rmSync(folder, { recursive: true })
  })
  const run = (rules: readonly OciDeviceRule[]): string => {
    const cgroup = mkdtempSync(join(mount, `${basename(folder)}-`))
    try {
      const writer = new ProgramWriter()
      limitDevices(writer, rules, cgroup)
      joinCgroups(writer, [cgroup])
      writer.call('execve', ['/bin/sh', writer.texts(['sh', '-c', script]), writer.texts(['PATH=/bin:/usr/bin'])])
      writeFileSync(join(folder, 'program'), writer.write(), { mode: 0o700 })
      const shell = `exec ${folder}/program 3>>${folder}/log 4</dev/null`
      const { stdout } = spawnSync('/bin/sh', ['-c', shell], { encoding: 'utf8' })
      assert.equal(errorInLog(join(folder, 'log')), undefined)
      return stdout.trim().split('\n').join(' ')
    } finally {
      rmdirSync(cgroup)
    }
  }
  assert.equal(run([denyAll]), '3')
  assert.equal(run([denyAll, { ...kernelLog, access: 'r' }]), 'read 3')
  assert.equal(run([denyAll, { ...kernelLog, access: 'w' }]), 'write 3')
  assert.equal(run([{ allow: true, access: 'rwm' }]), 'read write 3')
})
