import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cLibraryPackage } from '../../../lib/linux/c-library.ts'
import { embeddedObstacle, type MachineFacts, machineObstacle } from './obstacles.ts'

const machine: MachineFacts = {
  platform: 'linux',
  architecture: 'x64',
  kernel: '6.1.0-37-amd64',
  userId: 0,
  capabilities: (1n << 41n) - 1n,
  hasCLibrary: true,
  canConnect: true,
  canWrite: () => true,
  hasProgram: () => true,
}
const folders = { state: '/run/typernetes/x', imageRoot: '/images' }
const without =
  (...names: readonly string[]) =>
  (name: string) =>
    !names.includes(name)

test('a machine with all requirements has no obstacle', () => {
  assert.equal(machineObstacle(machine), undefined)
  assert.equal(embeddedObstacle(machine, folders), undefined)
})

test('containers need Linux, root and its capabilities', () => {
  const reason = (facts: Partial<MachineFacts>) => machineObstacle({ ...machine, ...facts })?.reason
  assert.equal(reason({ platform: 'darwin', userId: 501 }), 'containers need Linux, and this machine runs macOS')
  assert.equal(reason({ platform: 'win32', userId: -1 }), 'containers need Linux, and this machine runs Windows')
  assert.equal(reason({ userId: 1000, capabilities: 0n }), 't8s runs without root')
  const docker = 0xa80425fbn
  assert.equal(reason({ capabilities: docker }), 'root lacks CAP_NET_ADMIN, CAP_SYS_ADMIN here')
})

test('the runtime of Typernetes needs koffi, a program for rules, util-linux, and folders to write', () => {
  const obstacle = (facts: Partial<MachineFacts>) => embeddedObstacle({ ...machine, ...facts }, folders)
  assert.equal(obstacle({ hasCLibrary: false })?.remedy, `npm install ${cLibraryPackage}`)
  assert.deepEqual(obstacle({ canConnect: false }), {
    reason: 'neither nft nor iptables is installed',
    remedy: 'apt-get install nftables',
  })
  assert.equal(obstacle({ hasProgram: without('unshare') })?.reason, 'unshare is not installed')
  const canWrite = (folder: string): boolean => folder !== folders.state
  assert.equal(obstacle({ canWrite })?.reason, '/run/typernetes/x is read-only')
})

test('without crun and runc, the kernel and the processor must be known', () => {
  const obstacle = (facts: Partial<MachineFacts>) => embeddedObstacle({ ...machine, ...facts }, folders)
  const hasProgram = without('crun', 'runc')
  assert.equal(obstacle({ hasProgram }), undefined)
  assert.equal(obstacle({ hasProgram, kernel: '5.12.0' }), undefined)
  assert.match(obstacle({ hasProgram, kernel: '5.10.0-8-amd64' })?.reason ?? '', /need Linux 5\.12/)
  assert.match(obstacle({ hasProgram, architecture: 'riscv64' })?.reason ?? '', /on x86-64 or 64-bit ARM/)
  assert.equal(obstacle({ kernel: '5.4.0', architecture: 'ppc64' }), undefined)
})
