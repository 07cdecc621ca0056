/** Flow schemas and priority levels of a server that starts again. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { memoryStore } from '../../src/storage/memory/index.ts'
import type { Store } from '../../src/storage/store.ts'
import { storeLike } from '../../src/storage/suite/store-like.fixture.ts'
import { clientOf, type Json, json } from '../support/api-client.ts'
import { serve } from '../support/api-server.ts'
import { waitFor } from '../support/wait-for.ts'

const group = '/apis/flowcontrol.apiserver.k8s.io/v1'

interface Schema extends Json {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Starts a server, and returns the revisions of its objects once no schema dangles. */
async function revisions(t: TestContext, store: Store): Promise<Record<string, string>> {
  const server = await serve(t, store)
  const client = clientOf(t, 'HTTP/2', server)
  const list = async <T extends Json>(resource: string): Promise<readonly T[]> =>
    json<{ items: readonly T[] }>(await client.request('GET', `${group}/${resource}`)).items
  const schemas = await waitFor('the conditions of all schemas', async () => {
    const found = await list<Schema>('flowschemas')
    return found.length > 0 && found.every(({ status }) => status?.conditions?.[0]?.status === 'False') && found
  })
  const all = [...schemas, ...(await list('prioritylevelconfigurations'))]
  client.close()
  await server.stop(0)
  return Object.fromEntries(all.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))
}

test('a server that starts again changes none of its schemas and levels', async (t) => {
  const store = memoryStore()
  t.after(() => store.close())
  const before = await revisions(t, store)
  // Levels are read later than schemas, as may happen with a store in another process.
  const slow = storeLike(store, {
    async list(options) {
      if (options.start.startsWith('/registry/prioritylevelconfigurations/')) await delay(50)
      return store.list(options)
    },
  })
  assert.deepEqual(await revisions(t, slow), before)
})
