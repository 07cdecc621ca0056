import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allResources } from '../../api/registry.ts'
import { resourceKey } from '../../api/resource.ts'
import { memoryStore } from '../../storage/memory/index.ts'
import { CompactedError, type Observer } from '../../storage/store.ts'
import { storeLike } from '../../storage/suite/store-like.fixture.ts'
import { AdmissionChain } from '../admission/admission-chain.ts'
import { Registry } from '../registry/registry.ts'
import { ownWriter } from '../registry/write/own-writer.ts'
import { publishAuthentication } from './authentication-config-map.ts'

const key = '/registry/configmaps/kube-system/extension-apiserver-authentication'

test('the ConfigMap is corrected also after its watch has ended', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const memory = memoryStore()
  let observer: Observer | undefined
  const store = storeLike(memory, {
    watch: (range, after, given) => {
      if (range.start !== key) return memory.watch(range, after, given)
      observer = given
      return memory.watch(range, after, { ...given, events: (events) => observer === given && given.events(events) })
    },
  })
  const registry = new Registry(store, allResources)
  const configMaps = registry.served(allResources.find((definition) => resourceKey(definition) === 'v1/configmaps')!)
  const stopping = new AbortController()
  t.after(() => {
    stopping.abort()
    registry.stop()
  })
  const context = ownWriter(registry, new AdmissionChain([]))
  const log = (line: string): void => assert.fail(line)
  await publishAuthentication(
    { configMaps, context, clientCA: undefined, requestHeader: undefined, log },
    stopping.signal,
  )
  assert.ok(await store.get(key))
  const first = observer!
  observer = undefined
  await store.commit({ conditions: [], operations: [{ key, delete: true }] })
  first.end(new CompactedError(1, 2))
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  t.mock.timers.tick(1000)
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  assert.ok(observer)
  assert.ok(await store.get(key))
})
