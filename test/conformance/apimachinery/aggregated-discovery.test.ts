/** Tests of the conformance suite for aggregated discovery (`test/e2e/apimachinery/aggregated_discovery.go`). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { test } from 'node:test'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients } from '../support/clients.ts'
import { define } from '../support/definitions.ts'
import { resourceOfEachGroup } from './groups.ts'

const clients = conformanceClients({ controllers: [] })
const raw = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
/** The Accept header of client-go, which also accepts the response of an older server. */
const clientGo = `${raw},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json`

interface Discovered {
  readonly kind: string
  readonly items: readonly {
    readonly metadata: { readonly name?: string }
    readonly versions: readonly {
      readonly version: string
      readonly resources: readonly { readonly resource: string }[]
    }[]
  }[]
}

/** Returns `GROUP/VERSION RESOURCE` for each resource of a document. */
async function discovered(path: string, accept: string): Promise<ReadonlySet<string>> {
  const { ca, cert, key, url } = clients().cluster.client
  const [response]: IncomingMessage[] = await once(
    request(new URL(path, url), { ca, cert, key, agent: false, headers: { accept } }).end(),
    'response',
  )
  assert.equal(response?.headers['content-type'], raw)
  const { kind, items } = JSON.parse(Buffer.concat(await response.toArray()).toString()) as Discovered
  assert.equal(kind, 'APIGroupDiscoveryList')
  return new Set(
    items.flatMap(({ metadata: { name }, versions }) =>
      versions.flatMap(({ version, resources }) =>
        resources.map(({ resource }) => `${name ? `${name}/` : ''}${version} ${resource}`),
      ),
    ),
  )
}

for (const [name, accept] of [
  ['should support raw aggregated discovery endpoint Accept headers', raw],
  ['should support aggregated discovery interface', clientGo],
] as const)
  test(`AggregatedDiscovery ${name}`, async () => {
    const found = new Set([...(await discovered('/api', accept)), ...(await discovered('/apis', accept))])
    for (const [groupVersion, resource] of resourceOfEachGroup)
      assert.ok(found.has(`${groupVersion} ${resource}`), `${resource} of ${groupVersion}`)
  })

for (const [name, group, accept] of [
  ['should support raw aggregated discovery request for CRDs', 'raw.discovered.example.com', raw],
  ['should support aggregated discovery interface for CRDs', 'discovered.example.com', clientGo],
] as const)
  test(`AggregatedDiscovery ${name}`, async () => {
    await define(clients(), { group })
    await waitFor('it to be found', async () => (await discovered('/apis', accept)).has(`${group}/v1 foos`))
  })
