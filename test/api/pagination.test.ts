/** Paginated lists during writes: every page is from the revision of the first one. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Client, http1Client, http2Client, type Json, json } from '../support/api-client.ts'
import { serve, startTestServer } from '../support/api-server.ts'
import { createAll, each, nameOf, podOf, podsPath } from '../support/objects.ts'

const count = 4_000
const pageSize = 500

interface Pages {
  readonly objects: ReadonlyMap<string, Json>
  readonly revision: string
  /** The duration of the longest request, in ms. */
  readonly longest: number
}

/** Reads all pages of a list and checks that each matches the first. */
async function readPages(client: Client, path: string, between: (page: number) => unknown = () => {}): Promise<Pages> {
  const objects = new Map<string, Json>()
  let longest = 0
  let token: string | undefined
  let revision = ''
  let remaining: number | undefined
  let last = ''
  for (let page = 0; page === 0 || token; page++) {
    const started = performance.now()
    const answer = await client.request(
      'GET',
      `${path}?limit=${pageSize}${token ? `&continue=${encodeURIComponent(token)}` : ''}`,
    )
    longest = Math.max(longest, performance.now() - started)
    assert.equal(answer.status, 200, answer.bytes.toString())
    const list = json(answer)
    revision ||= list.metadata.resourceVersion
    assert.equal(list.metadata.resourceVersion, revision, `page ${page} shows another revision`)
    if (remaining !== undefined)
      assert.equal(
        (list.metadata.remainingItemCount ?? 0) + list.items.length,
        remaining,
        `page ${page} counts wrongly`,
      )
    remaining = list.metadata.remainingItemCount
    for (const item of list.items) {
      const { name } = item.metadata
      assert.ok(name > last, `${name} comes after ${last}`)
      assert.ok(Number(item.metadata.resourceVersion) <= Number(revision), `${name} is newer than its list`)
      last = name
      objects.set(name, item)
    }
    token = list.metadata.continue
    if (token) assert.equal(list.items.length, pageSize)
    await between(page)
  }
  return { objects, revision, longest }
}

/**
 * Starts eight writers that change, delete and create objects until stopped. Names of created objects sort between the
 * existing ones (`o-…`).
 */
function startWriters(client: Client): { readonly written: () => number; stop(): Promise<number> } {
  let writing = true
  let written = 0
  const writer = async (id: number): Promise<void> => {
    for (let i = id; writing; i += 8) {
      const name = nameOf((i * 7919) % count)
      const body = { metadata: { annotations: { n: String(i) } } }
      const patched = await client.request('PATCH', `${podsPath}/${name}`, {
        body,
        headers: { 'content-type': 'application/merge-patch+json' },
      })
      assert.ok(patched.status === 200 || patched.status === 404, patched.bytes.toString())
      if (i % 3 === 0) {
        const made = { ...podOf(0), metadata: { name: `${name}-${i}` } }
        assert.equal((await client.request('POST', podsPath, { body: made })).status, 201)
        const deletion = await client.request('DELETE', `${podsPath}/${nameOf((i * 31) % count)}?gracePeriodSeconds=0`)
        assert.ok(deletion.status === 200 || deletion.status === 404, deletion.bytes.toString())
        written += 2
      }
      written++
    }
  }
  const writers = Promise.all(Array.from({ length: 8 }, (_, id) => writer(id)))
  return {
    written: () => written,
    async stop() {
      writing = false
      await writers
      return written
    },
  }
}

/** Returns how many times slower than an idle machine of 2024 this one currently is: at least 1. */
function slowness(): number {
  const started = performance.now()
  let sum = 0
  for (let i = 0; i < 2e7; i++) sum += Math.sqrt(i) % 3
  assert.ok(sum > 0)
  return Math.max(1, (performance.now() - started) / 150)
}

function checkTime(t: TestContext, what: string, longest: number): void {
  const slow = slowness()
  t.diagnostic(
    `${what}: longest request ${longest.toFixed(0)} ` +
      `ms${slow > 1.5 ? ` on a machine that is ${slow.toFixed(1)} times slower than usual` : ''}`,
  )
  assert.ok(longest < 1000 * slow, `${what}: a request took ${longest.toFixed(0)} ms`)
}

/** Returns the state at a revision, read in one request. */
async function stateAt(client: Client, revision: string): Promise<ReadonlyMap<string, string>> {
  const answer = await client.request('GET', `${podsPath}?resourceVersion=${revision}&resourceVersionMatch=Exact`)
  assert.equal(answer.status, 200)
  return new Map(json(answer).items.map(({ metadata: { name, resourceVersion } }) => [name, resourceVersion]))
}

const versions = (objects: ReadonlyMap<string, Json>): ReadonlyMap<string, string> =>
  new Map([...objects].map(([name, { metadata }]) => [name, metadata.resourceVersion]))

for (const storage of ['memory', 'log'] as const) {
  test(`pages of 4,000 pods are from one revision while eight clients write (${storage})`, async (t) => {
    const server = await startTestServer(t, storage)
    const client = http2Client(t, server)
    const reader = http1Client(t, server)
    await createAll(client, podsPath, 0, count, podOf)
    const first = await readPages(reader, podsPath)
    assert.equal(first.objects.size, count)

    const writers = startWriters(client)
    const lists: Pages[] = []
    for (let round = 0; round < 3 || (round < 30 && writers.written() < 500); round++)
      lists.push(await readPages(reader, podsPath))
    const written = await writers.stop()
    for (const { objects, revision } of lists) assert.deepEqual(versions(objects), await stateAt(reader, revision))
    assert.ok(written > 100, `only ${written} writes happened meanwhile`)
    t.diagnostic(`${written} writes meanwhile`)
    checkTime(t, `pages of ${pageSize} on ${storage}`, Math.max(...lists.map(({ longest }) => longest)))
    assert.deepEqual(server.logLines, [])
  })
}

test('pages continue from the store history if the server has no snapshot of the first', async (t) => {
  const one = await startTestServer(t, 'log')
  await createAll(http2Client(t, one), podsPath, 0, count, podOf)
  // The second server on the same store has no snapshots of the first one's pages.
  const other = await serve(t, one.store)
  const clients = [http2Client(t, one), http2Client(t, other)]
  let turn = 0
  const alternating: Client = {
    ...clients[0]!,
    request: (method, path, call) => clients[turn++ % 2]!.request(method, path, call),
  }
  const writers = startWriters(http2Client(t, one))
  const pages = await readPages(alternating, podsPath)
  await writers.stop()
  assert.deepEqual(versions(pages.objects), await stateAt(clients[0]!, pages.revision))
  checkTime(t, 'pages from history', pages.longest)
})

test('clients at different pages of one revision do not affect each other', async (t) => {
  const one = await startTestServer(t)
  const client = http2Client(t, one)
  await createAll(client, podsPath, 0, 2000, podOf)
  const tokens: string[] = []
  let answer = json(await client.request('GET', `${podsPath}?limit=${pageSize}`))
  while (answer.metadata.continue) {
    tokens.push(answer.metadata.continue)
    answer = json(
      await client.request(
        'GET',
        `${podsPath}?limit=${pageSize}&continue=${encodeURIComponent(answer.metadata.continue)}`,
      ),
    )
  }
  const fresh = http2Client(t, await serve(t, one.store))
  for (const [page, token] of [...tokens.entries()].reverse()) {
    const { items } = json(
      await fresh.request('GET', `${podsPath}?limit=${pageSize}&continue=${encodeURIComponent(token)}`),
    )
    assert.deepEqual([items.length, items[0]?.metadata.name], [pageSize, nameOf((page + 1) * pageSize)])
  }
})

test('pages with a selector have no remainingItemCount', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  await createAll(client, podsPath, 0, 1000, podOf)
  const names: string[] = []
  let token = ''
  do {
    const list = json(
      await client.request(
        'GET',
        `${podsPath}?labelSelector=shard%3D3&limit=30${token && `&continue=${encodeURIComponent(token)}`}`,
      ),
    )
    assert.equal(list.metadata.remainingItemCount, undefined)
    names.push(...list.items.map(({ metadata }) => metadata.name))
    token = list.metadata.continue ?? ''
  } while (token)
  assert.deepEqual(
    names,
    Array.from({ length: 100 }, (_, i) => nameOf(i * 10 + 3)),
  )
})

test('a continue token of a compacted revision is 410, and the response has a new one', async (t) => {
  const one = await startTestServer(t)
  const client = http2Client(t, one)
  await createAll(client, podsPath, 0, 100, podOf)
  const first = json(await client.request('GET', `${podsPath}?limit=10`))
  await each(0, 5, 1, (i) => client.request('DELETE', `${podsPath}/${nameOf(i + 50)}?gracePeriodSeconds=0`))
  await one.store.compact(await one.store.currentRevision())
  const fresh = http2Client(t, await serve(t, one.store))
  const refused = await fresh.request(
    'GET',
    `${podsPath}?limit=10&continue=${encodeURIComponent(first.metadata.continue ?? '')}`,
  )
  assert.equal(refused.status, 410)
  const status = json(refused)
  assert.equal(status.reason, 'Expired')
  const names: string[] = []
  let token = status.metadata.continue
  while (token) {
    const list = json(await fresh.request('GET', `${podsPath}?limit=10&continue=${encodeURIComponent(token)}`))
    names.push(...list.items.map(({ metadata }) => metadata.name))
    token = list.metadata.continue
  }
  assert.deepEqual(
    names,
    Array.from({ length: 90 }, (_, i) => nameOf(i + 10)).filter((_, i) => i < 40 || i >= 45),
  )
})
