import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ViciSection } from '../vici/vici-message.ts'
import { CharonConnections } from './charon-connections.ts'
import { connectionStates } from './connection-state.ts'

const own = { subnet: '10.244.1.0/24', address: '192.168.33.101' }
const peer = { subnet: '10.244.2.0/24', address: '192.168.33.102' }
const nameTo = (number: number): string => `192.168.33.101-10.244.1.0/24-10.244.${number}.0/24-192.168.33.10${number}`
const config = { udpEncap: false, espProposal: 'aes128gcm16', presharedKey: 'secret' }

/** A daemon that holds what is loaded; `sent` has the commands that change something. */
function daemon(conns: string[], keys: string[]) {
  const sent: string[] = []
  let associations: ViciSection[] = []
  const textOf = (value: ViciSection[string] | undefined): string => (typeof value === 'string' ? value : '')
  const request = async (command: string, message: ViciSection = {}): Promise<ViciSection> => {
    if (command === 'get-conns') return { conns: [...conns] }
    if (command === 'get-shared') return { keys: [...keys] }
    const name = textOf(message.id) || textOf(message.name) || textOf(message.ike) || Object.keys(message)[0]!
    sent.push(`${command} ${name}`)
    if (command === 'load-conn') conns.push(name)
    if (command === 'load-shared') keys.push(name)
    if (command === 'terminate') throw new Error('charon rejects terminate: no matching SAs to terminate found')
    return {}
  }
  const stream = async (): Promise<ViciSection[]> => associations
  const setAssociations = (found: ViciSection[]): void => {
    associations = found
  }
  return { client: { request, stream }, sent, setAssociations }
}

const association = (name: string, state: string, child?: string): ViciSection => ({
  [name]: { state, ...(child !== undefined && { 'child-sas': { 'a-1': { state: child } } }) },
})

test('keys and connections are loaded once, and stale ones of flannel are removed', async () => {
  const { client, sent, setAssociations } = daemon(['office', nameTo(9)], ['flannel-192.168.33.109', 'other'])
  setAssociations([association(nameTo(9), 'ESTABLISHED')])
  const lines: string[] = []
  const network = '10.244.0.0/16'
  const connections = new CharonConnections({ own, network, config, log: (line) => lines.push(line) })
  await connections.sync(client, [peer], 0, true)
  assert.deepEqual(sent.splice(0), [
    ...['load-shared flannel-192.168.33.101', 'load-shared flannel-192.168.33.102', `load-conn ${nameTo(2)}`],
    ...[`unload-conn ${nameTo(9)}`, `terminate ${nameTo(9)}`, 'unload-shared flannel-192.168.33.109'],
  ])
  assert.ok(lines.includes(`ipsec: Unloaded connection: ${nameTo(9)}`))
  assert.doesNotMatch(lines.join('\n'), /secret/)
})

test('a connection without states is started again after a time, and changes are logged', async () => {
  const { client, sent, setAssociations } = daemon([], [])
  const lines: string[] = []
  const network = '10.244.0.0/16'
  const connections = new CharonConnections({ own, network, config, log: (line) => lines.push(line) })
  await connections.sync(client, [peer], 0, true)
  setAssociations([association(nameTo(2), 'ESTABLISHED', 'INSTALLED')])
  await connections.sync(client, [peer], 1000, true)
  setAssociations([])
  sent.length = 0
  await connections.sync(client, [peer], 29_000, true)
  await connections.sync(client, [peer], 40_000, false)
  assert.deepEqual(sent, [])
  await connections.sync(client, [peer], 40_000, true)
  await connections.sync(client, [peer], 41_000, true)
  assert.deepEqual(sent, [`initiate ${nameTo(2)}`])
  assert.deepEqual(lines.slice(-2), [
    'ipsec: connected to 10.244.2.0/24 by 192.168.33.102',
    'ipsec: not connected to 10.244.2.0/24 by 192.168.33.102',
  ])
})

test('the state of a connection is the best of its associations', () => {
  const states = connectionStates([
    ...[association('a', 'CONNECTING'), association('a', 'ESTABLISHED', 'REKEYING'), association('a', 'DELETING')],
    ...[association('b', 'ESTABLISHED', 'DELETING'), association('c', 'CREATED'), association('d', 'DELETING')],
  ])
  assert.deepEqual(
    [...states],
    [
      ['a', 'connected'],
      ['b', 'established'],
      ['c', 'connecting'],
    ],
  )
})
