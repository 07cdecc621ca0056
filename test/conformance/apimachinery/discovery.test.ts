/**
 * Tests of the conformance suite for discovery, versions and representations
 * (`test/e2e/apimachinery/{discovery,server_version,table_conversion}.go`).
 */
import assert from 'node:assert/strict'
import { request } from 'node:https'
import { test } from 'node:test'
import { ApisApi, AuthorizationV1Api, VersionApi } from '@kubernetes/client-node'
import { conformanceClients } from '../support/clients.ts'
import { resourceOfEachGroup } from './groups.ts'

const clients = conformanceClients({ controllers: [] })

interface ResourceList {
  readonly groupVersion: string
  readonly resources: readonly { readonly name: string }[]
}

test('Discovery should validate PreferredVersion for each APIGroup', async () => {
  const { groups } = await clients().config.makeApiClient(ApisApi).getAPIVersions()
  assert.ok(groups.length > 10)
  for (const { name, preferredVersion, versions } of groups) {
    const { group, server } = {
      group: (await clients().cluster.call('GET', `/apis/${name}/`)) as unknown as {
        preferredVersion: { groupVersion: string }
      },
      server: preferredVersion,
    }
    assert.equal(group.preferredVersion.groupVersion, server?.groupVersion, name)
    assert.ok(
      versions.some(({ version }) => version === preferredVersion?.version),
      name,
    )
  }
})

test('Discovery should locate the groupVersion and a resource within each APIGroup', async () => {
  for (const [group, resource] of resourceOfEachGroup) {
    const path = `${group === 'v1' ? '/api' : '/apis'}/${group}`
    const { groupVersion, resources } = (await clients().cluster.call('GET', path)) as unknown as ResourceList
    assert.equal(groupVersion, group)
    assert.ok(
      resources.some(({ name }) => name === resource),
      `${resource} of ${path}`,
    )
  }
})

test('server version should find the server version', async () => {
  const { major, minor, gitVersion } = await clients().config.makeApiClient(VersionApi).getCode()
  assert.match(`${major}.${minor}`, /^[0-9]+\.[0-9]+$/)
  assert.ok(gitVersion.startsWith(`v${major}.${minor}.`))
})

test(
  'Servers with support for Table transformation should return a 406 for a backend which does not implement ' +
    'metadata',
  async () => {
    const { client } = clients().cluster
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    }
    const code = await new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
      const { url, ca, cert, key } = client
      const sent = request(
        new URL('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', url),
        { method: 'POST', ca, cert, key, agent: false, headers },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      )
      sent.on('error', reject).end(JSON.stringify(body))
    })
    assert.equal(code, 406)
    assert.equal(
      (await clients().config.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({ body })).status
        ?.allowed,
      true,
    )
  },
)
