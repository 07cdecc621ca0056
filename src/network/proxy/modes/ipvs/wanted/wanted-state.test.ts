import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceObjects, WantedService } from './service-objects.ts'
import { WantedState } from './wanted-state.ts'

const serviceAt = (address: string, endpoint: string): WantedService => ({
  ...{ protocol: 'TCP', address, port: 80, scheduler: 'rr', persistenceSeconds: undefined, hashesPorts: false },
  endpoints: [{ address: endpoint, port: 8080 }],
})
const objectsAt = (address: string, endpoint: string): ServiceObjects => ({
  services: [serviceAt(address, endpoint)],
  entries: [{ set: 'ipvsIps', entry: address }],
  blocked: [],
})

test('a change of endpoints changes no entry', () => {
  const state = new WantedState()
  state.set('default/web', objectsAt('10.96.0.7', '10.244.0.2'))
  assert.deepEqual(state.takeChanges().addedEntries, [{ set: 'ipvsIps', entry: '10.96.0.7' }])
  state.set('default/web', objectsAt('10.96.0.7', '10.244.0.3'))
  assert.deepEqual(state.takeChanges(), {
    addedEntries: [],
    removedEntries: [],
    services: [serviceAt('10.96.0.7', '10.244.0.3')],
    removedServices: [],
  })
})

test('an address of two Services belongs to the first one, and to the other one after its deletion', () => {
  const state = new WantedState()
  state.set('default/a', objectsAt('192.0.2.7', '10.244.0.2'))
  state.set('default/b', objectsAt('192.0.2.7', '10.244.0.3'))
  assert.deepEqual(state.takeChanges().services, [serviceAt('192.0.2.7', '10.244.0.2')])
  state.set('default/a', undefined)
  assert.deepEqual(state.takeChanges(), {
    addedEntries: [],
    removedEntries: [],
    services: [serviceAt('192.0.2.7', '10.244.0.3')],
    removedServices: [],
  })
  state.set('default/b', undefined)
  const { removedEntries, removedServices } = state.takeChanges()
  assert.deepEqual(removedEntries, [{ set: 'ipvsIps', entry: '192.0.2.7' }])
  assert.deepEqual(removedServices, [serviceAt('192.0.2.7', '10.244.0.3')])
  assert.deepEqual([...state.entries()], [])
})
