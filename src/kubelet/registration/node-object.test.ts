import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newNode, nodeStatus } from './node-object.ts'

const machine = {
  hostname: 'laptop',
  cpus: 2,
  memory: 1n << 30n,
  swap: 0n,
  disk: 1n << 40n,
  hugePages: new Map(),
  machineId: 'm',
  systemUuid: 'u',
  bootId: 'b',
  kernelVersion: '6.1',
  osImage: 'Linux',
  architecture: 'amd64',
  addresses: ['192.0.2.1'],
}
const runtime = { version: 'typernetes://1', handlers: [], hasGroupsPolicy: true, images: [] }
const settings = { name: 'n1', labels: {}, taints: [], maxPods: 110, reserved: {}, nodeIps: ['192.0.2.1'], port: 10250 }

test('the name of the node, not of the machine, is its label and its host name', () => {
  const node = newNode(machine, settings, nodeStatus(machine, runtime, settings, []))
  assert.equal(node.metadata.labels?.['kubernetes.io/hostname'], 'n1')
  assert.deepEqual(node.status?.addresses, [
    { type: 'InternalIP', address: '192.0.2.1' },
    { type: 'Hostname', address: 'n1' },
  ])
})
