/** Backends of flannel on a machine whose kernel has ipip and WireGuard. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Kernel } from '../disk/kernel.ts'
import { copyKoffi, copyProgram } from '../disk/root-disk.ts'
import { runMachine, skipReason } from '../run-machine.ts'

// The shell of busybox would run its own ip.
const programs = ['sh', 'ip', 'nsenter', 'unshare', 'tcpdump', 'head']

function addFiles(folder: string, { modules }: Kernel): void {
  for (const program of programs) copyProgram(folder, program)
  copyKoffi(folder)
  for (const path of ['lib', 'etc']) mkdirSync(join(folder, path), { recursive: true })
  // tcpdump looks up its user.
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n')
  cpSync(modules, join(folder, 'lib/modules'), { recursive: true })
}

test('ipip and wireguard connect nodes by the kernel', { skip: skipReason(programs) }, async () => {
  const output = await runMachine({
    checks: join(import.meta.dirname, 'checks.ts'),
    peers: [join(import.meta.dirname, 'flannel-peer.ts')],
    addFiles,
    megabytes: 512,
    timeoutMs: 200_000,
  })
  assert.match(output, /^checks ended with 0\r?$/m, output)
})
