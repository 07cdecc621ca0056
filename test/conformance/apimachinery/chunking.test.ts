/** Tests of the conformance suite for lists in chunks (`test/e2e/apimachinery/chunking.go`). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiException, type V1PodTemplateList } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients, pod } from '../support/clients.ts'

// Compacts immediately: upstream's suite waits minutes for it.
const clients = conformanceClients({ controllers: [], compaction: { intervalMs: 200, retainMs: 0 } })
const total = 400
const namespace = 'default'
const nameOf = (n: number): string => `template-${String(n).padStart(4, '0')}`
const list = (limit: number, _continue?: string) =>
  clients().core.listNamespacedPodTemplate({ namespace, limit, _continue })

/** A client opens a connection for each concurrent request. */
const maxConcurrent = 20

async function inBatches(numbers: readonly number[], make: (n: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < numbers.length; from += maxConcurrent)
    await Promise.all(numbers.slice(from, from + maxConcurrent).map(make))
}

let made: Promise<unknown> | undefined
/** Creates the listed objects, once. */
function templates(): Promise<unknown> {
  const template = { metadata: {}, spec: pod('p').spec }
  const make = (n: number) =>
    clients().core.createNamespacedPodTemplate({ namespace, body: { metadata: { name: nameOf(n) }, template } })
  made ??= inBatches(
    Array.from({ length: total }, (_, n) => n),
    make,
  )
  return made
}

/** Checks that a chunk begins after the first `found` objects. Returns `found` plus those of the chunk. */
function chunk({ items, metadata }: V1PodTemplateList, limit: number, found: number): number {
  assert.ok(items.length <= limit)
  assert.deepEqual(
    items.map((item) => item.metadata?.name),
    items.map((_, n) => nameOf(found + n)),
  )
  const now = found + items.length
  assert.equal(metadata?.remainingItemCount, metadata?._continue ? total - now : undefined)
  return now
}

/** Reads all chunks after the first one, which must have its revision. */
async function rest(first: V1PodTemplateList, limit: number, found: number): Promise<void> {
  let last = first
  while (last.metadata?._continue) {
    last = await list(limit, last.metadata._continue)
    assert.equal(last.metadata?.resourceVersion, first.metadata?.resourceVersion)
    found = chunk(last, limit, found)
  }
  assert.equal(found, total)
}

test('Servers with support for API chunking should return chunks of results for list calls', async () => {
  await templates()
  for (let round = 0; round < 3; round++) {
    const first = await list(17)
    await rest(first, 17, chunk(first, 17, 0))
  }
  assert.equal((await list(total + 1)).items.length, total)
})

test(
  'Servers with support for API chunking should support continue listing from the last key if the original ' +
    'version has been compacted away, though the list is inconsistent',
  async () => {
    await templates()
    const limit = total / 10
    const first = await list(limit)
    const found = chunk(first, limit, 0)
    let written = 0
    const token = await waitFor('the token to expire', async () => {
      // Other writes, so that the old revision is compacted.
      await clients().core.createNamespacedConfigMap({
        namespace,
        body: { metadata: { name: `written-${written++}` } },
      })
      try {
        await list(limit, first.metadata?._continue)
        return undefined
      } catch (error) {
        assert.ok(error instanceof ApiException)
        assert.equal(error.code, 410)
        const { reason, metadata } = JSON.parse(error.body) as { reason: string; metadata: { continue: string } }
        assert.equal(reason, 'Expired')
        return metadata.continue
      }
    })
    const second = await list(limit, token)
    assert.notEqual(second.metadata?.resourceVersion, first.metadata?.resourceVersion)
    assert.equal(second.items.length, limit)
    await rest(second, limit, chunk(second, limit, found))
  },
)
