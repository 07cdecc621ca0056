/** Backends of flannel on a machine whose kernel has ipip, WireGuard and ESP. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Kernel } from '../disk/kernel.ts'
import { copyKoffi, copyLibrary, copyProgram } from '../disk/root-disk.ts'
import { runMachine, skipReason } from '../run-machine.ts'

// The shell of busybox would run its own ip.
const programs = ['sh', 'ip', 'nsenter', 'unshare', 'tcpdump', 'head', '/usr/lib/ipsec/charon']
/** Plug-ins of charon: those for a shared secret, and for the ciphers of flannel. */
const plugins = [
  ...['nonce', 'random', 'drbg', 'aes', 'sha1', 'sha2', 'hmac', 'kdf', 'gmp', 'openssl'],
  ...['kernel-netlink', 'socket-default', 'vici'],
]

function addFiles(folder: string, { modules }: Kernel): void {
  for (const program of programs) copyProgram(folder, program)
  for (const plugin of plugins) copyLibrary(folder, `/usr/lib/ipsec/plugins/libstrongswan-${plugin}.so`)
  copyKoffi(folder)
  for (const path of ['lib', 'etc', 'var']) mkdirSync(join(folder, path), { recursive: true })
  symlinkSync('/run', join(folder, 'var/run'))
  // Exponents of 4096 bits, the default, would take this machine seconds for each connection.
  const settings = `load = ${plugins.join(' ')}\n  dh_exponent_ansi_x9_42 = no`
  writeFileSync(join(folder, 'etc/strongswan.conf'), `charon {\n  ${settings}\n}\n`)
  // tcpdump looks up its user.
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n')
  cpSync(modules, join(folder, 'lib/modules'), { recursive: true })
}

test('ipip, wireguard and ipsec connect nodes by the kernel', { skip: skipReason(programs) }, async () => {
  const output = await runMachine({
    checks: join(import.meta.dirname, 'checks.ts'),
    peers: [join(import.meta.dirname, 'flannel-peer.ts')],
    addFiles,
    megabytes: 512,
    timeoutMs: 420_000,
  })
  assert.match(output, /^checks ended with 0\r?$/m, output)
})
