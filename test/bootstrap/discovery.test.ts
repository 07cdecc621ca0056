/**
 * The discovery documents of a fresh server, compared with those of kube-apiserver 1.36.2 (`discovery-1.36.json.gz`).
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { testCluster } from '../support/test-cluster.ts'

interface Named {
  readonly name: string
}

/** An APIVersions, an APIGroupList or an APIResourceList. */
interface Discovery {
  readonly groups?: readonly Named[]
  readonly resources?: readonly (Named & { readonly storageVersionHash?: string })[]
  readonly serverAddressByClientCIDRs?: readonly object[]
}

const file = readFileSync(join(import.meta.dirname, 'discovery-1.36.json.gz'))
const recorded = JSON.parse(gunzipSync(file).toString()) as Readonly<Record<string, Discovery>>

/** Returns the document without the address of the server. */
function comparable({ serverAddressByClientCIDRs, ...document }: Discovery): object {
  return { ...document, ...(serverAddressByClientCIDRs && { addresses: serverAddressByClientCIDRs.length }) }
}

test('a fresh server has exactly the discovery documents of 1.36', async (t) => {
  const cluster = await testCluster(t)
  for (const [path, wanted] of Object.entries(recorded))
    await t.test(path, async () => {
      const live = (await cluster.call('GET', path)) as unknown as Discovery
      assert.deepEqual(comparable(live), comparable(wanted))
    })
})
