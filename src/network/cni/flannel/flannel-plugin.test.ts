import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { PluginConfig } from '../plugin/plugin-config.ts'
import { delegateConfig, type FlannelPluginConfig } from './delegate-config.ts'
import { runFlannelPlugin } from './flannel-plugin.ts'

const subnets = {
  network: '10.244.0.0/16',
  subnet: '10.244.1.0/24',
  ipv6Network: undefined,
  ipv6Subnet: undefined,
  mtu: 1450,
  masquerade: true,
}
const environmentFile =
  'FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.1.1/24\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=true\n'

/** Runs commands of the plug-in in a folder; the bridge only records its configurations. */
function lab(t: TestContext, more: FlannelPluginConfig = {}) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-flannel-plugin-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const subnetFile = join(folder, 'subnet.env')
  const dataDir = join(folder, 'data')
  const calls: PluginConfig[] = []
  const config = { name: 'cbr0', cniVersion: '1.0.0', subnetFile, dataDir, ...more }
  const run = (command: string, extra: object = {}): Promise<object | undefined> =>
    runFlannelPlugin({
      environment: { CNI_COMMAND: command, CNI_PATH: folder },
      config: { ...config, ...extra },
      id: () => 'pod-1',
      runOwn: async (own) => {
        calls.push(own)
        return command === 'ADD' ? { done: true } : undefined
      },
    })
  return { folder, subnetFile, dataDir, calls, run }
}

test('the configuration of the bridge has the subnet, the MTU, and what delegate adds', () => {
  const config = { name: 'cbr0', cniVersion: '0.3.1', delegate: { hairpinMode: true, isDefaultGateway: true } }
  assert.deepEqual(delegateConfig(config, subnets), {
    name: 'cbr0',
    cniVersion: '0.3.1',
    type: 'bridge',
    isGateway: true,
    isDefaultGateway: true,
    hairpinMode: true,
    ipMasq: false,
    mtu: 1450,
    notMasqueraded: ['10.244.0.0/16'],
    ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.1.0/24' }]], routes: [{ dst: '10.244.0.0/16' }] },
  })
  const other = delegateConfig({ delegate: { type: 'macvlan', mtu: 1400 }, runtimeConfig: { ips: [] } }, subnets)
  assert.deepEqual([other.type, other.mtu, other.runtimeConfig], ['macvlan', 1400, { ips: [] }])
  assert.ok(!('isGateway' in other) && !('notMasqueraded' in other))
  for (const delegate of [{ type: 7 }, { type: '../x' }, { name: 'x' }, { ipam: {} }])
    assert.throws(() => delegateConfig({ delegate }, subnets), { message: /^'delegate' dictionary/ })
})

test('DEL uses the configuration with which the pod was connected', async (t) => {
  const { subnetFile, dataDir, calls, run } = lab(t)
  await assert.rejects(run('ADD'), {
    message:
      /failed to load flannel 'subnet\.env' file: open .*: no such file or directory\. Check the flannel pod log/,
  })
  await assert.rejects(run('STATUS'), { code: 50 })
  writeFileSync(subnetFile, environmentFile)
  assert.equal(await run('STATUS'), undefined)
  assert.deepEqual(await run('ADD'), { done: true })
  const stored = join(dataDir, 'pod-1')
  assert.equal(statSync(stored).mode & 0o777, 0o600)
  assert.deepEqual(JSON.parse(readFileSync(stored, 'utf8')), calls[0])
  // The node has another subnet meanwhile.
  writeFileSync(subnetFile, environmentFile.replaceAll('10.244.1', '10.244.9'))
  await run('DEL')
  assert.deepEqual(calls[1], calls[0])
  await run('DEL')
  assert.equal(calls.length, 2)
})

test('GC passes the pods that are used on, and forgets the others', async (t) => {
  const { subnetFile, calls, run } = lab(t)
  writeFileSync(subnetFile, environmentFile)
  await run('ADD')
  await run('GC', { 'cni.dev/valid-attachments': [] })
  assert.deepEqual(calls[1], { ...calls[0], 'cni.dev/valid-attachments': [] })
  await run('DEL')
  assert.equal(calls.length, 2)
})

test('another plug-in is a program, whose error is passed on', async (t) => {
  const { folder, subnetFile, run } = lab(t, { delegate: { type: 'other' } })
  writeFileSync(subnetFile, environmentFile)
  await assert.rejects(run('ADD'), { message: /failed to find plugin "other" in path \[.*\]: install it there/ })
  const script = (text: string): void => writeFileSync(join(folder, 'other'), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  script('cat')
  const echoed = (await run('ADD')) as { readonly type: string; readonly mtu: number }
  assert.deepEqual([echoed.type, echoed.mtu], ['other', 1450])
  script(`echo '{"code": 11, "msg": "no room"}'; exit 1`)
  await assert.rejects(run('ADD'), { code: 11, message: 'the plug-in other: no room' })
  script('exit 3')
  await assert.rejects(run('DEL'), { code: 100, message: 'the plug-in other: exit status 3' })
})
