/** The mode ipvs of kube-proxy on a machine whose kernel has IPVS. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Kernel } from '../disk/kernel.ts'
import { copyKoffi, copyProgram } from '../disk/root-disk.ts'
import { runMachine, skipReason } from '../run-machine.ts'

// The shell of busybox would run its own ip.
const programs = ['sh', 'ip', 'nsenter', 'unshare', 'umount', 'sysctl', 'ipset', 'ipvsadm']
const iptables = ['iptables-nft', 'ip6tables-nft'].flatMap((name) => [name, `${name}-save`, `${name}-restore`])
const extensions = '/usr/lib/x86_64-linux-gnu/xtables'

function addFiles(folder: string, { modules }: Kernel): void {
  for (const program of [...programs, ...iptables]) copyProgram(folder, program)
  cpSync(extensions, join(folder, extensions), { recursive: true })
  copyKoffi(folder)
  for (const path of ['lib', 'etc']) mkdirSync(join(folder, path), { recursive: true })
  // ipset finds the names of protocols there.
  cpSync('/etc/protocols', join(folder, 'etc/protocols'))
  cpSync(modules, join(folder, 'lib/modules'), { recursive: true })
}

test('the mode ipvs serves Services', { skip: skipReason([...programs, ...iptables]) }, async () => {
  const output = await runMachine({
    checks: join(import.meta.dirname, 'checks.ts'),
    peers: [join(import.meta.dirname, '../../network/services/peer.ts')],
    addFiles,
    megabytes: 512,
    timeoutMs: 400_000,
  })
  assert.match(output, /^checks ended with 0\r?$/m, output)
})
