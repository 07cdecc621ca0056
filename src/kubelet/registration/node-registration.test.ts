import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { readMachine } from './machine.ts'
import { NodeRegistration } from './node-registration.ts'

test('a report replaces the addresses, of which two may have one type', async () => {
  const reported = Promise.withResolvers<unknown>()
  const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
  const client: Pick<RestClient, 'get' | 'patch'> = {
    get: async () => node as never,
    async patch(_kind, _namespace, _name, patch) {
      reported.resolve((patch as Pick<Node, 'status'>).status?.addresses)
      return node as never
    },
  }
  const registration = registrationOf(client, ['10.0.0.1', 'fd00::1'])
  registration.report()
  const addresses = await reported.promise
  registration.stop()
  assert.deepEqual(addresses, [
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'InternalIP', address: 'fd00::1' },
    { type: 'Hostname', address: 'n' },
    { $patch: 'replace' },
  ])
})

test('a report has the conditions of what the runtime says at that moment', async () => {
  const written: string[] = []
  const state: State = { problem: 'the network is not ready' }
  const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
  const reported = Promise.withResolvers<void>()
  const client: Pick<RestClient, 'get' | 'patch'> = {
    get: async () => node as never,
    async patch(_kind, _namespace, _name, patch) {
      const { conditions = [] } = (patch as Pick<Node, 'status'>).status ?? {}
      written.push(conditions.find(({ type }) => type === 'Ready')?.status ?? '')
      reported.resolve()
      return node as never
    },
  }
  const registration = registrationOf(client, ['10.0.0.1'], state)
  registration.report()
  await reported.promise
  registration.stop()
  assert.deepEqual(written, ['True'])
})

test('a node that was ready is not reported as unready while the kubelet starts', async () => {
  const written: string[] = []
  const state: State = { problem: undefined, csi: 'CSINode is not yet initialized' }
  const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
  const client: Pick<RestClient, 'get' | 'patch'> = {
    get: async () => node as never,
    async patch(_kind, _namespace, _name, patch) {
      const { conditions = [] } = (patch as Pick<Node, 'status'>).status ?? {}
      written.push(conditions.find(({ type }) => type === 'Ready')?.status ?? '')
      return node as never
    },
  }
  const registration = registrationOf(client, ['10.0.0.1'], state)
  await registration.start(async () => {
    registration.report()
    state.csi = undefined
  })
  registration.stop()
  assert.deepEqual(written, ['True'])
})

interface State {
  problem: string | undefined
  csi?: string | undefined
}

/** The runtime has no problem once it has been asked. */
const registrationOf = (
  client: Pick<RestClient, 'get' | 'patch'>,
  nodeIps: readonly string[],
  state: State = { problem: undefined },
): NodeRegistration =>
  new NodeRegistration({
    client: client as RestClient,
    machine: readMachine('/'),
    settings: { name: 'n', labels: {}, taints: [], maxPods: 110, reserved: {}, nodeIps, port: 10250 },
    creates: false,
    intervals: { checkMs: 10_000, reportMs: 300_000, leaseSeconds: 40 },
    events: { record() {} },
    log: (line) => assert.fail(line),
    now: Date.now,
    schedule: () => () => {},
    async runtime() {
      state.problem = undefined
      return { version: 'test://1', handlers: [], hasGroupsPolicy: true, images: [] }
    },
    volumesInUse: () => [],
    problems: () => [state.problem, state.csi].filter((problem) => problem !== undefined),
    pressures: () => [],
  })
